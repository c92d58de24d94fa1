// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres/postgres_leases.hpp"

#include <algorithm>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {
namespace {

// What each change of a lease asks first, and what it notes: $1 is the lease, $2 the owner, $3 the try, $4 the owner's
// token. One that ends a try without an answer counts that.
#define PENSTOCK_SETTLED(kind) " settled_by = $4, settled_try = $3, settled_as = " kind
#define PENSTOCK_OWN_TRY " where number = $1 and owner = $2 and tries = $3 and state = 1"
#define PENSTOCK_ENDED(change) \
  "with changed as (" change   \
  " returning number) update tally set ended = ended + 1 where owner = $2 and exists(select from changed)"
constexpr std::string_view acknowledge =
    "update lease set state = 2, suspect = false, since = null, reason = null, answer = $5," PENSTOCK_SETTLED("0")
        PENSTOCK_OWN_TRY;
constexpr std::string_view give_back = PENSTOCK_ENDED(
    "update lease set state = 0, charged = charged - 1, owner = null, since = null," PENSTOCK_SETTLED("1")
        PENSTOCK_OWN_TRY);
// It rests 50 ms, then twice that, up to 5 s.
constexpr std::string_view fail = PENSTOCK_ENDED(
    "update lease set state = case when charged >= $6 then 3 else 0 end, suspect = suspect and charged < $6,"
    " owner = null, since = null, reason = $5, not_before = now_of($7)"
    " + least(5000000000, 50000000::bigint << (least(charged, 8) - 1)::integer)," PENSTOCK_SETTLED("2")
        PENSTOCK_OWN_TRY);
constexpr std::string_view suspect = PENSTOCK_ENDED(
    "update lease set state = case when charged >= $6 then 3 else 0 end, suspect = charged < $6, owner = null,"
    " since = null, not_before = 0, reason = $5," PENSTOCK_SETTLED("3") PENSTOCK_OWN_TRY);
constexpr std::string_view park = PENSTOCK_ENDED(
    "update lease set state = 3, suspect = false, owner = null, since = null, reason = $5," PENSTOCK_SETTLED("4")
        PENSTOCK_OWN_TRY);
#undef PENSTOCK_ENDED
#undef PENSTOCK_SETTLED
#undef PENSTOCK_OWN_TRY

/// Does the exchange's second step: others that are gone, then what is ready.
constexpr std::string_view let_go = "select let_go($1, $2, $3)";
// "offset 0" keeps the server from joining all work there is to what was taken.
constexpr std::string_view take_leases =
    "select its_number, its_tries, its_charged, is_suspect, its_work.* from take($1, $2, $3), lateral (select path,"
    " \"offset\", length, checksum, payload from work where number = its_number offset 0) as its_work order by "
    "its_number";
// Each question is asked of the index that has its rows.
constexpr std::string_view is_finished =
    "select closed and (select 1 from lease where state = 0 and not suspect order by number + 0 limit 1) is null"
    " and (select 1 from lease where state = 0 and suspect order by number limit 1) is null"
    " and (select 1 from lease where state = 1 order by owner limit 1) is null from ledger";

}  // namespace

void PostgresLeases::send(PostgresConnection& connection, PostgresOwnerKey owner, Settlement const& settlement) const {
  auto const number = static_cast<std::int64_t>(settlement.number);
  std::uint32_t const tries = settlement.tries, most = session_.facts().most_tries;
  std::string_view const text = settlement.text;
  switch (settlement.kind) {
    case Settlement::Kind::acknowledge:
      return connection.send(acknowledge, {number, owner.id, tries, owner.token, text});
    case Settlement::Kind::give_back:
      return connection.send(give_back, {number, owner.id, tries, owner.token});
    case Settlement::Kind::fail:
      return connection.send(fail, {number, owner.id, tries, owner.token, text, most, session_.clock()});
    case Settlement::Kind::suspect:
      return connection.send(suspect, {number, owner.id, tries, owner.token, text, most});
    case Settlement::Kind::park:
      return connection.send(park, {number, owner.id, tries, owner.token, text});
  }
}

std::string PostgresLeases::refusal_of(PostgresConnection& connection, std::int64_t token, Settlement const& settlement,
                                       bool is_unsure) const {
  enum class State : std::uint8_t { ready, out, done, parked };
  std::string const number = std::to_string(settlement.number);
  PostgresRows const now =
      connection.ask("select state, tries, settled_by, settled_try, settled_as from lease where number = $1",
                     {static_cast<std::int64_t>(settlement.number)});
  if (now.size() == 0) return "There is no lease " + number + ".";
  if (is_unsure && !now.is_null(0, 2) && now.number(0, 2) == token && now.number(0, 3) == settlement.tries &&
      now.number(0, 4) == static_cast<std::int64_t>(settlement.kind))
    return {};  // It took effect, and the connection was lost before that was said.
  std::string const lost = "Try " + std::to_string(settlement.tries) + " of lease " + number + " is over: ";
  switch (static_cast<State>(now.number(0, 0))) {
    case State::done:
      return lost + "it is answered.";
    case State::parked:
      return lost + "it is parked.";
    case State::ready:
      return lost + "it waits for another owner.";
    case State::out:
      break;
  }
  return lost + "it is out by try " + std::to_string(now.number(0, 1)) + ".";
}

std::vector<Lease> PostgresLeases::take(PostgresConnection& connection, std::int32_t owner, std::size_t most) const {
  constexpr std::size_t most_at_once = 1U << 20U;
  connection.send(let_go, {owner, session_.clock(), session_.facts().lock_class()});
  if (most != 0) connection.send(take_leases, {owner, std::min(most, most_at_once), session_.clock()});
  std::vector<PostgresRows> const results = connection.finish();
  std::vector<Lease> taken;
  if (most == 0) return taken;
  PostgresRows const& rows = results.back();
  for (int row = 0; row < rows.size(); ++row)
    taken.push_back({.number = static_cast<std::uint64_t>(rows.number(row, 0)),
                     .tries = static_cast<std::uint32_t>(rows.number(row, 1)),
                     .charged = static_cast<std::uint32_t>(rows.number(row, 2)),
                     .suspect = rows.number(row, 3) != 0,
                     .work = {.path = rows.text(row, 4),
                              .offset = static_cast<std::uint64_t>(rows.number(row, 5)),
                              .length = static_cast<std::uint64_t>(rows.number(row, 6)),
                              .checksum = rows.text(row, 7),
                              .payload = rows.text(row, 8)}});
  return taken;
}

void PostgresLeases::write_to_disk(PostgresConnection& connection) {
  // A commit that changes nothing waits for nothing.
  connection.ask("select pg_logical_emit_message(true, 'penstock', '')");
}

bool PostgresLeases::are_finished(PostgresConnection& connection) {
  return connection.ask(is_finished).number(0, 0) != 0;
}

void PostgresLeases::send_give_back(PostgresConnection& connection, std::int32_t owner, std::string const& numbers,
                                    std::string const& tries) {
  connection.send(
      "with changed as (update lease set state = 0, charged = charged - 1, owner = null, since = null"
      " where state = 1 and owner = $1 and (number, tries) not in (select * from unnest($2::bigint[], $3::bigint[]))"
      " returning number)"
      " update tally set ended = ended + (select count(*) from changed) where owner = $1",
      {owner, PostgresValue::in_words(numbers), PostgresValue::in_words(tries)});
}

}  // namespace penstock
