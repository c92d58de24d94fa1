// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/postgres_ledger.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "lease/postgres/postgres_owner.hpp"
#include "lease/postgres/postgres_session.hpp"

#include "engine/core/own_process.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A transaction that has seen nothing, and the server's own removal of rows, keep none.
constexpr std::string_view upkeep_of_ledger =
    "select (select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables where schemaname = current_schema()),"
    " (extract(epoch from clock_timestamp() - since) * 1000)::bigint, who from (select 1) as one left join ("
    "  select xact_start as since, 'process ' || pid || ' (' || coalesce(nullif(application_name, ''), 'no name')"
    "    || ', user ' || usename || ')' as who from pg_stat_activity"
    "   where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null"
    "    and backend_type <> 'autovacuum worker' and (backend_xid is not null or backend_xmin is not null)"
    "  union all select prepared, 'prepared transaction ' || gid || ' (user ' || owner || ')' from pg_prepared_xacts"
    "   where database = current_database()) as open on true order by since limit 1";

/// A number or a count as the server can have it.
std::int64_t as_number(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, std::numeric_limits<std::int64_t>::max()));
}

std::chrono::milliseconds age(std::int64_t now, std::int64_t since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(std::max<std::int64_t>(0, now - since)));
}

std::int64_t random_number() {
  std::random_device device;
  return static_cast<std::int64_t>(std::uniform_int_distribution<std::uint64_t>()(device));
}

void expect_size(LeaseWork const& work) {
  if (work.path.size() + work.checksum.size() + work.payload.size() > LeaseWork::most_bytes)
    throw Error(ErrorKind::bad_argument,
                "The texts of a lease have more than 1 MiB. Put them into a file, and name that.");
}

}  // namespace

class PostgresLedger::Parts {
 public:
  Parts(std::string const& connection, LedgerOptions options)
      : session(PostgresAddress(connection), std::move(options)) {}

  PostgresSession session;
  OwnProcess const process;
};

PostgresLedger::PostgresLedger(std::string const& connection, LedgerOptions options)
    : parts_(std::make_unique<Parts>(connection, std::move(options))) {}

PostgresLedger::~PostgresLedger() {
  left_to_parent(parts_);
}

bool PostgresLedger::enqueue(std::span<LeaseWork const> work, bool last) {
  for (LeaseWork const& one : work) expect_size(one);
  PostgresSession& session = parts_->session;
  // After a connection that was lost in the commit, this says whether it happened.
  std::int64_t const batch = random_number();
  bool is_added = false;
  session.run([&](PostgresConnection& connection) {
    connection.run("begin");
    try {
      bool const is_closed = connection.ask("select closed from ledger for update").number(0, 0) != 0;
      // Behind the lock: the session that was lost may have been in its commit until then.
      bool const is_there = connection.ask("select exists(select from batch where id = $1)", {batch}).number(0, 0) != 0;
      is_added = is_there || !is_closed;
      if (is_added && !is_there) {
        for (LeaseWork const& one : work)
          connection.send(
              "with added as (insert into work select coalesce(max(number), 0) + 1, now_of($1), $2, $3::bigint,"
              " $4::bigint, $5, $6 from work returning number) insert into lease(number) select number from added",
              {session.clock(), std::string_view(one.path), static_cast<std::int64_t>(one.offset),
               static_cast<std::int64_t>(one.length), std::string_view(one.checksum), std::string_view(one.payload)});
        connection.send("insert into batch values($1)", {batch});
        if (last) connection.send("update ledger set closed = true");
        connection.send("select pg_notify('penstock', $1)", {PostgresValue::in_words(session.address().schema)});
        connection.finish();
      }
      connection.run("commit");
    } catch (PostgresLost const&) {
      throw;
    } catch (...) {
      connection.run("rollback");
      throw;
    }
  });
  return is_added;
}

std::unique_ptr<LeaseOwner> PostgresLedger::join(OwnerOptions options) {
  parts_->session.expect_own_process();
  LedgerOptions ledger = parts_->session.options();
  ledger.opening = LedgerOpening::existing;
  return std::make_unique<PostgresOwner>(parts_->session.address(), ledger, options);
}

LedgerProgress PostgresLedger::progress() {
  LedgerProgress progress;
  PostgresSession& session = parts_->session;
  session.run([&](PostgresConnection& connection) {
    PostgresRows const row =
        connection.ask("select * from counts($1, $2)", {session.clock(), session.facts().lock_class()});
    auto const count = [&](int column) { return static_cast<std::uint64_t>(row.number(0, column)); };
    std::int64_t const now = row.number(0, 5);
    progress = {.leases = count(0),
                .ready = count(1),
                .out = count(2),
                .done = count(0) - count(1) - count(2) - count(3),
                .parked = count(3),
                .suspects = count(4),
                .lost = count(12),
                .owners = count(10) - count(11),
                .retries = count(9),
                .closed = count(7) != 0,
                .at = std::chrono::nanoseconds(now)};
    if (progress.out != 0) progress.oldest_out = age(now, row.number(0, 6));
    if (progress.ready != 0) progress.oldest_ready = age(now, row.number(0, 8));
  });
  return progress;
}

std::optional<LedgerUpkeep> PostgresLedger::upkeep() {
  LedgerUpkeep upkeep;
  parts_->session.run([&](PostgresConnection& connection) {
    PostgresRows const row = connection.ask(upkeep_of_ledger);
    upkeep = {.dead_rows = static_cast<std::uint64_t>(row.number(0, 0))};
    if (row.is_null(0, 1)) return;
    upkeep.oldest_transaction = std::chrono::milliseconds(std::max<std::int64_t>(0, row.number(0, 1)));
    upkeep.transaction_of = row.text(0, 2);
  });
  return upkeep;
}

std::vector<ParkedLease> PostgresLedger::parked(std::uint64_t after, std::size_t most) {
  std::vector<ParkedLease> parked;
  parts_->session.run([&](PostgresConnection& connection) {
    parked.clear();
    PostgresRows const rows = connection.ask(
        "select number, tries, reason, path, \"offset\", length, checksum, payload from lease join work using(number)"
        " where state = 3 and number > $1 order by number limit $2",
        {as_number(after), as_number(most)});
    for (int row = 0; row < rows.size(); ++row)
      parked.push_back({.number = static_cast<std::uint64_t>(rows.number(row, 0)),
                        .tries = static_cast<std::uint32_t>(rows.number(row, 1)),
                        .reason = rows.text(row, 2),
                        .work = {.path = rows.text(row, 3),
                                 .offset = static_cast<std::uint64_t>(rows.number(row, 4)),
                                 .length = static_cast<std::uint64_t>(rows.number(row, 5)),
                                 .checksum = rows.text(row, 6),
                                 .payload = rows.text(row, 7)}});
  });
  return parked;
}

bool PostgresLedger::unpark(std::uint64_t number) {
  bool was_parked = false;
  parts_->session.run([&](PostgresConnection& connection) {
    was_parked = connection
                     .ask("update lease set state = 0, charged = 0, not_before = 0 where number = $1 and state = 3",
                          {as_number(number)})
                     .changes() == 1;
  });
  return was_parked;
}

std::vector<LeaseAnswer> PostgresLedger::answers(std::uint64_t after, std::size_t most) {
  std::vector<LeaseAnswer> answers;
  parts_->session.run([&](PostgresConnection& connection) {
    answers.clear();
    PostgresRows const rows =
        connection.ask("select number, answer from lease where state = 2 and number > $1 order by number limit $2",
                       {as_number(after), as_number(most)});
    for (int row = 0; row < rows.size(); ++row)
      answers.push_back({static_cast<std::uint64_t>(rows.number(row, 0)), rows.text(row, 1)});
  });
  return answers;
}

}  // namespace penstock
