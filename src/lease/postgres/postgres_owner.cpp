// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres/postgres_owner.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/say.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::chrono::seconds time_between_looks{1};

std::string name_of_process() {
  std::array<char, 256> host{};
  bool const has_name = gethostname(host.data(), host.size() - 1) == 0;
  return std::to_string(getpid()) + (has_name ? " on " + std::string(host.data()) : "");
}

std::int64_t some_token() {
  std::random_device numbers;
  return static_cast<std::int64_t>((std::uint64_t{numbers()} << 32U | numbers()) >> 1U);
}

void expect_size(Settlement const& settlement) {
  if (settlement.text.size() > Settlement::most_bytes)
    throw Error(ErrorKind::bad_argument, "The answer of lease " + std::to_string(settlement.number) +
                                             " has more than 64 MiB. Put it into a file, and answer by its name.");
}

}  // namespace

PostgresOwner::Parts::Parts(PostgresAddress const& address, LedgerOptions const& options, OwnerOptions const& owner)
    : session(address, options),
      silence(std::chrono::nanoseconds(owner.silence).count()),
      name(name_of_process()),
      token(some_token()) {
  session.on_connect([this](PostgresConnection& connection) {
    if (id != 0) rejoin(connection);
  });
  session.run([this](PostgresConnection& connection) {
    if (id == 0) join(connection);
  });
  try {
    watch = std::jthread([this](std::stop_token const& stop) {
      std::mutex alone;
      std::condition_variable_any wakes;
      for (std::unique_lock lock(alone); !stop.stop_requested();) {
        wakes.wait_for(lock, stop, time_between_looks, [] { return false; });
        if (!stop.stop_requested()) session.look();
      }
    });
  } catch (std::system_error const& refused) {
    throw Error(ErrorKind::system, "There is no thread to watch the server: " + system_problem(refused.code().value()) +
                                       ". " + remedy_for_threads());
  }
  pthread_setname_np(watch.native_handle(), "ps-pg-lock");
}

void PostgresOwner::Parts::join(PostgresConnection& connection) {
  // The row is seen once its lock is there: one without a lock means that its process has ended. A number that is taken
  // is that of an owner that the last server had, and this one, which took over from it, had not; the next one follows.
  PostgresRows made(nullptr);
  do {
    made = connection.ask(
        "with made as (insert into owner(process, heard, silence, token) values($1, now_of($2), $3, $5)"
        " on conflict do nothing returning id),"
        " counted as (insert into tally(owner) select id from made on conflict do nothing)"
        " select id, pg_try_advisory_lock($4::integer, id) from made",
        {PostgresValue::in_words(name), session.clock(), silence, session.facts().lock_class(), token});
  } while (made.size() == 0);
  if (made.number(0, 1) == 0)
    throw PostgresLost(session.address().name + ": another program has the lock of an owner. It is tried again.");
  id = static_cast<std::int32_t>(made.number(0, 0));
  server_process = connection.server_process();
}

bool PostgresOwner::Parts::is_taken(PostgresConnection& connection) const {
  return connection.ask("select from owner where id = $1 and token <> $2", {id, token}).size() > 0;
}

void PostgresOwner::Parts::join_anew(PostgresConnection& connection) {
  // What it holds is not of this server.
  held.clear();
  join(connection);
}

void PostgresOwner::Parts::rejoin(PostgresConnection& connection) {
  std::int32_t const lock_class = session.facts().lock_class();
  if (is_taken(connection)) return join_anew(connection);
  if (connection.ask("select pg_try_advisory_lock($1::integer, $2::integer)", {lock_class, id}).number(0, 0) == 0) {
    // The server does not know yet that the last session has lost its other end; or another owner looks right now.
    connection.ask(
        "select count(pg_terminate_backend(pid)) from pg_locks where locktype = 'advisory' and objsubid = 2"
        " and database = (select oid from pg_database where datname = current_database())"
        " and classid = ($1::integer::bigint & 4294967295)::oid and objid = ($2::integer)::oid and pid = $3::integer",
        {lock_class, id, server_process});
    throw PostgresLost(session.address().name + ": the owner's last session is still there. It is tried again.");
  }
  // If it was let go, it is there again, without what it had.
  connection.ask(
      "insert into owner(id, process, heard, silence, token) values($1, $2, now_of($3), $4, $5)"
      " on conflict(id) do nothing",
      {id, PostgresValue::in_words(name), session.clock(), silence, token});
  // Another may have got the number before that, though not its lock.
  if (is_taken(connection)) {
    connection.ask("select pg_advisory_unlock($1::integer, $2::integer)", {lock_class, id});
    return join_anew(connection);
  }
  connection.send("insert into tally(owner) values($1) on conflict do nothing", {id});
  // What was handed out in a commit whose end was not seen was never passed on.
  std::string numbers = "{", tries = "{";
  for (auto const& [number, its_try] : held) {
    numbers += (numbers.size() > 1 ? "," : "") + std::to_string(number);
    tries += (tries.size() > 1 ? "," : "") + std::to_string(its_try);
  }
  PostgresLeases::send_give_back(connection, id, numbers + "}", tries + "}");
  connection.finish();
  server_process = connection.server_process();
}

void PostgresOwner::Parts::leave(PostgresConnection& connection) const {
  PostgresLeases::send_give_back(connection, id, "{}", "{}");
  connection.send("update lease set owner = null where state = 0 and suspect and owner = $1", {id});
  connection.send("delete from owner where id = $1", {id});
  connection.finish();
}

void PostgresOwner::Parts::note(PostgresConnection& connection) const {
  connection.send(
      "insert into owner(id, process, heard, silence, token) values($1, $2, now_of($3), $4, $5)"
      " on conflict(id) do update set heard = excluded.heard where owner.token = excluded.token",
      {id, PostgresValue::in_words(name), session.clock(), silence, token});
}

void PostgresOwner::Parts::settle(PostgresConnection& connection, std::span<Settlement const> settlements, bool is_last,
                                  Exchange& result) {
  result.refused.clear();
  if (!is_last) connection.send("select set_config('synchronous_commit', 'off', true)");
  if (silence != 0 && (!settlements.empty() || !held.empty())) {
    note(connection);
  } else if (silence != 0) {
    // An owner that only asks is noted now and then. It may have been let go while it had nothing.
    connection.send("update owner set heard = now_of($2) where id = $1 and now_of($2) - heard > silence / 2",
                    {id, session.clock()});
    connection.send(
        "insert into owner(id, process, heard, silence, token) select $1, $2, now_of($3), $4, $5"
        " where not exists (select from owner where id = $1) on conflict(id) do nothing",
        {id, PostgresValue::in_words(name), session.clock(), silence, token});
  }
  std::size_t const notes = silence == 0 ? 0 : !settlements.empty() || !held.empty() ? 1 : 2;
  std::size_t const before = notes + (is_last ? 0 : 1);
  for (Settlement const& one : settlements) leases.send(connection, {id, token}, one);
  std::vector<PostgresRows> const changed = connection.finish();
  for (std::size_t k = 0; k < settlements.size(); ++k) {
    if (changed[before + k].changes() != 0) continue;
    std::string reason = leases.refusal_of(connection, token, settlements[k], unsure.contains(said(settlements[k])));
    if (!reason.empty()) result.refused.push_back({k, std::move(reason)});
  }
}

void PostgresOwner::Parts::forget(Settlement const& settled) {
  auto const found = held.find(settled.number);
  if (found != held.end() && found->second == settled.tries) held.erase(found);
}

PostgresOwner::PostgresOwner(PostgresAddress const& address, LedgerOptions const& options, OwnerOptions const& owner)
    : parts_(std::make_unique<Parts>(address, options, owner)) {}

PostgresOwner::~PostgresOwner() {
  if (left_to_parent(parts_)) return;
  parts_->watch = {};
  try {
    parts_->session.run([this](PostgresConnection& connection) { parts_->leave(connection); });
  } catch (std::exception const& failure) {
    // Its lock ends with its session, so others get the leases all the same, as suspects.
    say("%s", failure.what());
  }
}

Exchange PostgresOwner::exchange(std::span<Settlement const> settlements, std::size_t most) {
  for (Settlement const& one : settlements) expect_size(one);
  Parts& own = *parts_;
  own.session.expect_own_process();
  std::lock_guard const lock(own.mutex);
  Exchange result;
  bool const has_none = settlements.empty() && own.silence == 0;
  bool is_settled = has_none;
  auto const remember = [&] {
    for (Settlement const& one : settlements) own.unsure.insert(Parts::said(one));
  };
  // Two transactions: one that waits for rows to take would keep others from those that it has settled. The first is on
  // the disk when the second is, as the server writes them in their order.
  own.session.run([&](PostgresConnection& connection) {
    try {
      if (!is_settled) own.settle(connection, settlements, most == 0, result);
      is_settled = true;
      result.taken = own.leases.take(connection, own.id, most);
      for (Lease const& one : result.taken) own.held[one.number] = one.tries;
      if (most != 0 && result.taken.empty() && !settlements.empty()) PostgresLeases::write_to_disk(connection);
      // Not before it is on the disk: a server that lost it has these leases out to this owner.
      for (Settlement const& one : settlements) own.forget(one);
      result.finished = result.taken.empty() && PostgresLeases::are_finished(connection);
      // What others settled last may be seen before it is on the disk.
      if (result.finished) PostgresLeases::write_to_disk(connection);
    } catch (PostgresConflict const&) {
      if (is_settled) remember();
      throw;
    } catch (...) {
      // What was not on the disk is lost if the server is.
      remember();
      is_settled = has_none;
      throw;
    }
  });
  for (Settlement const& one : settlements) own.unsure.erase(Parts::said(one));
  return result;
}

void PostgresOwner::keep_alive() {
  parts_->session.run([this](PostgresConnection& connection) {
    parts_->note(connection);
    connection.finish();
  });
}

}  // namespace penstock
