// SPDX-License-Identifier: Apache-2.0
#include "lease/lease_table.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {
namespace {

// States in these statements are those of LeaseState. An index serves a statement only if its condition is there word
// for word, so they are no values.

constexpr std::chrono::nanoseconds shortest_rest = std::chrono::milliseconds(50),
                                   longest_rest = std::chrono::seconds(5);

/// What each change of a lease asks first: that this owner has it, by this try.
std::string for_own_try(char const* change) {
  return std::string("update lease set ") + change + " where number = ?1 and owner = ?2 and tries = ?3 and state = 1";
}

/// Time for which a lease rests after that many tries that failed.
std::chrono::nanoseconds rest_of(std::uint32_t charged) {
  std::chrono::nanoseconds rest = shortest_rest;
  for (std::uint32_t k = 1; k < charged && rest < longest_rest; ++k) rest *= 2;
  return std::min(rest, longest_rest);
}

}  // namespace

LeaseTable::LeaseTable(LedgerFile& file)
    : file_(file),
      add_work_(file.connection(), "insert into work values(null, ?1, ?2, ?3, ?4, ?5, ?6)"),
      add_lease_(file.connection(), "insert into lease(number) values(?1)"),
      acknowledge_(file.connection(), for_own_try("state = 2, suspect = 0, since = null, reason = null, answer = ?4")),
      give_back_(file.connection(), for_own_try("state = 0, charged = charged - 1, owner = null, since = null")),
      fail_(file.connection(), for_own_try("state = case when charged >= ?5 then 3 else 0 end,"
                                           " suspect = (suspect or ?6) and charged < ?5, owner = null, since = null,"
                                           " not_before = ?7, reason = ?4")),
      park_(file.connection(), for_own_try("state = 3, suspect = 0, owner = null, since = null, reason = ?4")),
      look_(file.connection(), "select state, tries, charged from lease where number = ?1"),
      held_(file.connection(), "select count(*), coalesce(max(suspect), 0) from lease where state = 1 and owner = ?1"),
      suspects_(file.connection(),
                "select number, owner from lease where state = 0 and suspect = 1 and not (not_before > ?2 and "
                "not_before <= ?3) order by owner = ?1 desc, owner is "
                "null desc,"
                " number limit 1"),
      promise_(file.connection(), "update lease set owner = ?1 where number = ?2 and state = 0"),
      ordinary_(file.connection(),
                "select number from lease where state = 0 and suspect = 0 and not (not_before > ?2 and not_before <= "
                "?3) order by number limit ?1"),
      hand_out_(file.connection(),
                "update lease set state = 1, owner = ?1, since = ?3, tries = tries + 1, charged = charged + 1"
                " where number = ?2 and state = 0"),
      read_(file.connection(),
            "select tries, charged, suspect, path, offset, length, checksum, payload from lease join work using(number)"
            " where number = ?1"),
      give_back_all_(file.connection(),
                     "update lease set state = 0, charged = charged - 1, owner = null, since = null where owner = ?1 "
                     "and state = 1"),
      return_all_(file.connection(),
                  "update lease set state = case when charged >= ?2 then 3 else 0 end, suspect = charged < ?2,"
                  " owner = null, since = null, reason = ?3 where owner = ?1 and state = 1"),
      release_promised_(file.connection(),
                        "update lease set owner = null where state = 0 and suspect = 1 and owner = ?1"),
      unfinished_(file.connection(),
                  "select exists(select 1 from lease where state = 0) or exists(select 1 from lease where state = 1)") {
}

void LeaseTable::enqueue(LeaseWork const& work) {
  if (work.path.size() + work.checksum.size() + work.payload.size() > LeaseWork::most_bytes)
    throw Error(ErrorKind::bad_argument,
                "The texts of a lease have more than 1 MiB. Put them into a file, and name that.");
  add_work_.run(file_.now().count(), std::string_view(work.path), work.offset, work.length,
                std::string_view(work.checksum), std::string_view(work.payload));
  add_lease_.run(file_.connection().last_row());
}

std::string LeaseTable::settle(SqliteNumber owner, Settlement const& settlement) {
  std::uint64_t const number = settlement.number;
  std::uint32_t const tries = settlement.tries;
  std::string_view const text = settlement.text;
  if (text.size() > Settlement::most_bytes)
    throw Error(ErrorKind::bad_argument, "The answer of lease " + std::to_string(number) +
                                             " has more than 64 MiB. Put it into a file, and answer by its name.");
  switch (settlement.kind) {
    case Settlement::Kind::acknowledge:
      acknowledge_.run(number, owner, tries, text);
      break;
    case Settlement::Kind::give_back:
      give_back_.run(number, owner, tries);
      break;
    case Settlement::Kind::fail:
      fail_.run(number, owner, tries, text, file_.most_tries(), 0, (file_.now() + rest_of(charged_of(number))).count());
      break;
    case Settlement::Kind::suspect:
      fail_.run(number, owner, tries, text, file_.most_tries(), 1, 0);
      break;
    case Settlement::Kind::park:
      park_.run(number, owner, tries, text);
      break;
  }
  return file_.connection().changes() == 1 ? std::string() : refusal_of(settlement);
}

std::uint32_t LeaseTable::charged_of(std::uint64_t number) {
  auto const charged = look_.with(number).next() ? static_cast<std::uint32_t>(look_.number(2)) : 0;
  look_.with();
  return charged;
}

std::string LeaseTable::refusal_of(Settlement const& settlement) {
  std::string const number = std::to_string(settlement.number);
  if (!look_.with(settlement.number).next()) return "There is no lease " + number + ".";
  auto const state = static_cast<LeaseState>(look_.number(0));
  std::string const tries = std::to_string(look_.number(1));
  look_.with();
  std::string const lost = "Try " + std::to_string(settlement.tries) + " of lease " + number + " is over: ";
  switch (state) {
    case LeaseState::done:
      return lost + "it is answered.";
    case LeaseState::parked:
      return lost + "it is parked.";
    case LeaseState::ready:
      return lost + "it waits for another owner.";
    case LeaseState::out:
      break;
  }
  return lost + "it is out by try " + tries + ".";
}

std::vector<Lease> LeaseTable::take(SqliteNumber owner, std::size_t most) {
  std::vector<Lease> taken;
  if (most == 0) return taken;
  held_.with(owner).next();
  bool const has_some = held_.number(0) != 0;
  bool const has_suspect = held_.number(1) != 0;
  held_.with();
  if (has_suspect) return taken;
  // A time that is further away is of a clock from before the machine was started last.
  std::chrono::nanoseconds const now = file_.now(), last = now + longest_rest;
  if (suspects_.with(owner, now.count(), last.count()).next()) {
    SqliteNumber const number = suspects_.number(0);
    bool const is_free = suspects_.is_null(1), is_own = !is_free && suspects_.number(1) == owner;
    suspects_.with();
    if (!has_some) {
      taken.push_back(hand_out(owner, number));
      return taken;
    }
    if (is_free) promise_.run(owner, number);
    // It gets nothing more until it has settled the rest; other owners go on.
    if (is_free || is_own) return taken;
  }
  std::vector<SqliteNumber> numbers;
  for (ordinary_.with(std::min<std::size_t>(most, 1U << 20U), now.count(), last.count()); ordinary_.next();)
    numbers.push_back(ordinary_.number(0));
  taken.reserve(numbers.size());
  for (SqliteNumber const number : numbers) taken.push_back(hand_out(owner, number));
  return taken;
}

Lease LeaseTable::hand_out(SqliteNumber owner, SqliteNumber number) {
  hand_out_.run(owner, number, file_.now().count());
  read_.with(number).next();
  Lease lease{.number = static_cast<std::uint64_t>(number),
              .tries = static_cast<std::uint32_t>(read_.number(0)),
              .charged = static_cast<std::uint32_t>(read_.number(1)),
              .suspect = read_.number(2) != 0,
              .work = {.path = read_.text(3),
                       .offset = static_cast<std::uint64_t>(read_.number(4)),
                       .length = static_cast<std::uint64_t>(read_.number(5)),
                       .checksum = read_.text(6),
                       .payload = read_.text(7)}};
  read_.with();
  return lease;
}

void LeaseTable::give_back_all(SqliteNumber owner) {
  give_back_all_.run(owner);
  release_promised_.run(owner);
}

void LeaseTable::return_all(SqliteNumber owner, std::string const& reason) {
  return_all_.run(owner, file_.most_tries(), reason);
  release_promised_.run(owner);
}

bool LeaseTable::any_out_to(SqliteNumber owner) {
  held_.with(owner).next();
  bool const any = held_.number(0) != 0;
  held_.with();
  return any;
}

bool LeaseTable::any_ready_or_out() {
  unfinished_.with().next();
  bool const any = unfinished_.number(0) != 0;
  unfinished_.with();
  return any;
}

}  // namespace penstock
