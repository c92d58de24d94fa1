// SPDX-License-Identifier: Apache-2.0
// An owner that promised to be heard from, and whose work takes long.
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include <gtest/gtest.h>

#include "penstock/lease/lease_source.hpp"

namespace penstock {
namespace {

using support::APipelineOnLeases;

/// Counts how often its owners are heard from.
struct ListeningLedger : Ledger {
  Ledger& below;
  std::atomic<int> heard = 0;

  explicit ListeningLedger(Ledger& all) : below(all) {}
  struct Owner : LeaseOwner {
    ListeningLedger& of;
    std::unique_ptr<LeaseOwner> below;
    Owner(ListeningLedger& ledger, OwnerOptions options) : of(ledger), below(ledger.below.join(options)) {}
    Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override {
      ++of.heard;
      return below->exchange(settlements, most);
    }
    void keep_alive() override {
      ++of.heard;
      below->keep_alive();
    }
  };
  bool enqueue(std::span<LeaseWork const> work, bool last) override { return below.enqueue(work, last); }
  std::unique_ptr<LeaseOwner> join(OwnerOptions options) override { return std::make_unique<Owner>(*this, options); }
  LedgerProgress progress() override { return below.progress(); }
  std::vector<ParkedLease> parked(std::uint64_t after, std::size_t most) override { return below.parked(after, most); }
  bool unpark(std::uint64_t number) override { return below.unpark(number); }
  std::vector<LeaseAnswer> answers(std::uint64_t after, std::size_t most) override {
    return below.answers(after, most);
  }
};

/// The tile takes until the owner was heard from eight times more, which is twice its silence. The hour keeps other
/// causes for an exchange away. Seen to fail (it did not end) where the silence brought none.
TEST_F(APipelineOnLeases, IsHeardFromHoweverLongATileTakes) {
  enqueue(1);
  ListeningLedger listening(ledger);
  collector.on_take = [&](LeasePart const&) {
    for (int const before = listening.heard; listening.heard < before + 8;) std::this_thread::yield();
  };
  source.emplace(
      listening, pipeline.pool(), collector,
      LeaseSourceOptions{.owner = {.silence = std::chrono::milliseconds(40)}, .poll = std::chrono::hours(1)});
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(1);
  EXPECT_EQ(source->counts().taken, 1U);
  EXPECT_EQ(source->counts().refused, 0U);
}

/// A process that runs a lost device's tiles again ends before its pipeline runs, and would be blamed for leases.
TEST_F(APipelineOnLeases, TakesNoneBeforeTheRunBegins) {
  enqueue(1);
  ListeningLedger listening(ledger);
  source.emplace(listening, pipeline.pool(), collector,
                 LeaseSourceOptions{.owner = {.silence = std::chrono::milliseconds(40)}});
  while (listening.heard < 4) std::this_thread::yield();
  EXPECT_EQ(ledger.progress().ready, 1U);
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(1);
}

}  // namespace
}  // namespace penstock
