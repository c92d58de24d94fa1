// SPDX-License-Identifier: Apache-2.0
// What it costs to look at a ledger in PostgreSQL, and what is seen of its server.
#include <chrono>
#include <memory>
#include <string>

#include "lease/ledger_world.hpp"
#include "lease/postgres_server.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <nlohmann/json.hpp>

#include "penstock/lease/postgres_ledger.hpp"

namespace penstock {
namespace {

using support::settle_all;
using testing::AllOf;
using testing::HasSubstr;
using Kind = Settlement::Kind;

/// A ledger that is looked at.
struct ALookAtPostgres : testing::Test {
  support::PostgresServer& server = support::shared_postgres_server();
  PostgresLedger ledger{server.address("seen")};

  void TearDown() override { server.ask("drop schema seen cascade"); }
};

/// Seen to fail where the counts were those of the whole table.
TEST_F(ALookAtPostgres, ReadsNoLeaseThatIsDoneOrWasNeverTaken) {
  constexpr std::uint64_t each = 20000;
  std::string const count = std::to_string(each);
  server.ask("set search_path = seen; insert into work select n, 0, '', 0, 0, '', '' from generate_series(1, 2 * " +
             count + ") as n; insert into lease(number, state, tries) select n, case when n <= " + count +
             " then 2 else 0 end, case when n <= " + count + " then 1 else 0 end from generate_series(1, 2 * " + count +
             ") as n; insert into tally(owner, tries) values(0, " + count + ")");
  auto const owner = ledger.join();
  ASSERT_THAT(owner->exchange({}, 16).taken, testing::SizeIs(16));
  LedgerProgress const all = ledger.progress();
  EXPECT_EQ(all.done, each);
  EXPECT_EQ(all.out, 16U);
  EXPECT_EQ(all.ready, each - 16);
  // The first call of a session reads catalogues, too.
  std::string const plan = server.ask(
      "set search_path = seen; select * from counts(null, 0);"
      "explain (analyze, buffers, format json) select * from counts(null, 0)");
  auto const top = nlohmann::json::parse(plan)[0]["Plan"];
  auto const blocks = top["Shared Hit Blocks"].get<int>() + top["Shared Read Blocks"].get<int>();
  int const of_table = std::stoi(server.ask("select pg_relation_size('seen.lease') / 8192"));
  RecordProperty("blocks", blocks);
  EXPECT_LT(8 * blocks, of_table) << "blocks: " << blocks;
}

TEST_F(ALookAtPostgres, ShowsTheTransactionThatKeepsOldRows) {
  EXPECT_FALSE(ledger.upkeep()->oldest_transaction);
  std::unique_ptr<PGconn, void (*)(PGconn*)> const other(
      PQconnectdb(("host=" + server.folder() + " user=penstock dbname=postgres application_name=idler").c_str()),
      PQfinish);
  // One that has seen nothing keeps nothing.
  PQclear(PQexec(other.get(), "begin isolation level repeatable read"));
  EXPECT_FALSE(ledger.upkeep()->oldest_transaction);
  PQclear(PQexec(other.get(), "select 1"));
  ledger.enqueue(support::numbered_work(3), true);
  {
    auto const owner = ledger.join();
    owner->exchange(settle_all(owner->exchange({}, 3).taken, Kind::acknowledge), 0);
  }
  // A session that has ended has told its numbers to the server.
  auto upkeep = ledger.upkeep();
  while (upkeep->dead_rows < 3) upkeep = ledger.upkeep();
  ASSERT_TRUE(upkeep->oldest_transaction);
  EXPECT_GE(upkeep->oldest_transaction->count(), 0);
  EXPECT_THAT(upkeep->transaction_of, AllOf(HasSubstr("process " + std::to_string(PQbackendPID(other.get()))),
                                            HasSubstr("idler"), HasSubstr("penstock")));
  PQclear(PQexec(other.get(), "commit"));
  EXPECT_FALSE(ledger.upkeep()->oldest_transaction);
}

}  // namespace
}  // namespace penstock
