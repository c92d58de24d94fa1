// SPDX-License-Identifier: Apache-2.0
// What every ledger promises of failures and of time, on each engine, as ledger_contract_test.cpp.
#include <chrono>

#include "lease/a_ledger.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using support::ALedger;
using support::LedgerWorld;
using support::numbers_of;
using support::settle;
using support::settle_all;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Settlement::Kind;

TEST_P(ALedger, TriesAgainWhatFailedAndParksItWithTheReason) {
  for (std::uint32_t k = 1; k <= LedgerWorld::most_tries; ++k) {
    auto const taken = take(1);
    ASSERT_THAT(numbers_of(taken), ElementsAre(1));
    EXPECT_FALSE(taken[0].suspect);
    EXPECT_EQ(taken[0].charged, k);
    tell({settle(taken[0], Kind::fail, "It is broken.")});
    world->let_pass(std::chrono::seconds(5));
  }
  EXPECT_THAT(numbers_of(take(1)), ElementsAre(2));
  auto const parked = ledger.parked();
  ASSERT_THAT(parked, SizeIs(1));
  EXPECT_EQ(parked[0].number, 1U);
  EXPECT_EQ(parked[0].tries, LedgerWorld::most_tries);
  EXPECT_EQ(parked[0].reason, "It is broken.");
  EXPECT_EQ(parked[0].work.payload, "1");
}

/// Seen to fail where a lease that had failed was ready at once.
TEST_P(ALedger, LetsALeaseThatFailedRestTwiceAsLongEachTime) {
  for (auto const rest : {std::chrono::milliseconds(50), std::chrono::milliseconds(100)}) {
    auto const taken = take(1);
    ASSERT_THAT(numbers_of(taken), ElementsAre(1));
    tell({settle(taken[0], Kind::fail, "no mount")});
    world->let_pass(rest - std::chrono::milliseconds(1));
    auto const others = take(1);
    EXPECT_THAT(numbers_of(others), ElementsAre(2)) << "the rest do not wait for it";
    tell({settle(others[0], Kind::give_back)});
    world->let_pass(std::chrono::milliseconds(1));
  }
  tell({settle(take(1)[0], Kind::fail, "no mount")});
  EXPECT_TRUE(ledger.unpark(1));
  EXPECT_THAT(numbers_of(take(1)), ElementsAre(1)) << "at once";
}

TEST_P(ALedger, ParksAtOnceIfAskedAndMakesItReadyIfAsked) {
  tell({settle(take(1)[0], Kind::park, "It is no image.")});
  ASSERT_THAT(ledger.parked(), SizeIs(1));
  EXPECT_EQ(ledger.parked()[0].reason, "It is no image.");
  EXPECT_TRUE(ledger.unpark(1));
  EXPECT_FALSE(ledger.unpark(1));
  EXPECT_FALSE(ledger.unpark(11));
  auto const taken = take(1);
  ASSERT_THAT(numbers_of(taken), ElementsAre(1));
  EXPECT_EQ(taken[0].charged, 1U);
}

/// Seen to fail where a settlement was taken from an owner that had lost the lease.
TEST_P(ALedger, RefusesWhatAnOwnerSettlesAfterItsSilence) {
  auto const silent = ledger.join({.silence = std::chrono::seconds(30)});
  auto const taken = silent->exchange({}, 2).taken;
  world->let_pass(std::chrono::seconds(31));
  auto const now_mine = take(16);
  ASSERT_THAT(numbers_of(now_mine), ElementsAre(1));
  Exchange const late = silent->exchange(settle_all(taken, Kind::acknowledge), 16);
  EXPECT_THAT(late.refused, SizeIs(2));
  EXPECT_THAT(late.refused[0].reason, testing::EndsWith("."));
  EXPECT_THAT(numbers_of(late.taken), ElementsAre(2)) << "it goes on with what is ready";
  EXPECT_THAT(tell({settle(now_mine[0], Kind::acknowledge, "mine")}).refused, IsEmpty());
  EXPECT_EQ(ledger.answers().front().answer, "mine");
}

/// An owner that has nothing may be let go, and takes leases all the same.
TEST_P(ALedger, KeepsItsPromiseAnewWhenItTakesAfterItsSilence) {
  auto const silent = ledger.join({.silence = std::chrono::seconds(30)});
  world->let_pass(std::chrono::seconds(31));
  take(0);
  auto const taken = silent->exchange({}, 1).taken;
  world->let_pass(std::chrono::seconds(29));
  EXPECT_THAT(numbers_of(take(1)), ElementsAre(2));
  EXPECT_THAT(silent->exchange(settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
}

TEST_P(ALedger, LeavesAnOwnerItsLeasesWhileItIsHeardFrom) {
  auto const slow = ledger.join({.silence = std::chrono::seconds(30)});
  auto const taken = slow->exchange({}, 1).taken;
  for (int k = 0; k < 10; ++k) {
    world->let_pass(std::chrono::seconds(29));
    slow->keep_alive();
    take(0);
  }
  EXPECT_THAT(slow->exchange(settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
}

TEST_P(ALedger, NeverTakesFromAnOwnerThatPromisedNoTime) {
  auto const taken = take(1);
  world->let_pass(std::chrono::hours(24 * 91));
  auto const other = ledger.join();
  EXPECT_THAT(numbers_of(other->exchange({}, 1).taken), ElementsAre(2));
  EXPECT_THAT(tell(settle_all(taken, Kind::acknowledge)).refused, IsEmpty());
}

/// Seen to fail where owners that had ended counted until the next exchange.
TEST_P(ALedger, ShowsWhatIsOutToProcessesThatEnded) {
  take(1);
  lose(2);
  LedgerProgress const progress = ledger.progress();
  EXPECT_EQ(progress.out, 3U);
  EXPECT_EQ(progress.lost, 2U);
  EXPECT_EQ(progress.owners, 1U);
  EXPECT_THAT(describe(progress), HasSubstr("3 out (2 of processes that ended)"));
  take(0);
  EXPECT_EQ(ledger.progress().lost, 0U);
  EXPECT_EQ(ledger.progress().out, 1U);
}

TEST_P(ALedger, ShowsItsProgress) {
  LedgerProgress const before = ledger.progress();
  EXPECT_EQ(before.ready, 10U);
  EXPECT_EQ(before.owners, 1U);
  EXPECT_EQ(before.oldest_ready, std::chrono::milliseconds(0));
  EXPECT_FALSE(before.oldest_out);
  auto const taken = take(4);
  world->let_pass(std::chrono::seconds(2));
  tell(settle_all({taken[0], taken[1]}, Kind::acknowledge), 1);
  LedgerProgress const after = ledger.progress();
  EXPECT_EQ(after.out, 3U);
  EXPECT_EQ(after.done, 2U);
  EXPECT_EQ(after.oldest_out, std::chrono::milliseconds(2000));
  EXPECT_EQ(after.oldest_ready, std::chrono::milliseconds(2000));
  EXPECT_EQ(leases_per_second(before, after), 1.0);
  EXPECT_EQ(leases_per_second(after, after), 0.0);
  EXPECT_EQ(describe(after), "2 of 10 leases done, 3 out (the oldest for 2.0 s), 5 ready, 0 parked; 1 owner");
}

}  // namespace
}  // namespace penstock
