// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lease/ledger_world.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::support {

/// A ledger with ten leases, which are parked after three tries. At its end each is in one state.
struct ALedger : testing::TestWithParam<LedgerUnderTest> {
  std::unique_ptr<LedgerWorld> const world = GetParam().make();
  Ledger& ledger = world->ledger();
  std::unique_ptr<LeaseOwner> owner;

  void SetUp() override {
    ASSERT_TRUE(ledger.enqueue(numbered_work(10)));
    owner = ledger.join();
  }
  void TearDown() override {
    owner.reset();
    LedgerProgress const all = ledger.progress();
    EXPECT_EQ(all.leases, 10U);
    EXPECT_EQ(all.ready + all.done + all.parked, 10U) << describe(all);
    EXPECT_EQ(all.out, 0U) << "left by owners that are gone";
  }

  std::vector<Lease> take(std::size_t most) const { return owner->exchange({}, most).taken; }
  Exchange tell(std::vector<Settlement> const& settlements, std::size_t most = 0) const {
    return owner->exchange(settlements, most);
  }
  /// A process takes this many and is killed.
  void lose(std::size_t most) const {
    auto const doomed = world->doomed_owner();
    EXPECT_THAT(doomed->take(most), testing::SizeIs(most));
    doomed->die();
  }
};

}  // namespace penstock::support
