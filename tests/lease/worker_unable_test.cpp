// SPDX-License-Identifier: Apache-2.0
// Faults of no lease: they must not use up the tries of all.
#include <string>

#include "lease/a_pipeline_on_leases.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

/// A worker whose disk is full. At the end each lease is ready, and no try is charged.
struct AWorkerThatIsUnable : support::APipelineOnLeases {
  void SetUp() override {
    APipelineOnLeases::SetUp();
    enqueue(20);
  }
  void TearDown() override {
    source.reset();
    auto const progress = ledger.progress();
    EXPECT_EQ(progress.ready, 20U) << describe(progress);
    EXPECT_EQ(progress.suspects, 0U);
    auto const taken = ledger.join()->exchange({}, 20).taken;
    EXPECT_EQ(taken.size(), 20U) << "others rest, as after a failure";
    for (Lease const& one : taken) EXPECT_EQ(one.charged, 1U) << "for this time alone";
    APipelineOnLeases::TearDown();
  }
  void expect_it_is_said_once() {
    try {
      source->finish();
      FAIL() << "nothing was thrown";
    } catch (WorkerUnable const& unable) {
      EXPECT_STREQ(unable.what(), "The disk is full.");
    }
    EXPECT_NO_THROW(source->finish());
  }
};

/// Seen to fail where it was a failure like others.
TEST_F(AWorkerThatIsUnable, ToTakeATileChargesNothing) {
  collector.on_take = [](LeasePart const&) { throw WorkerUnable("The disk is full."); };
  open();
  run();
  expect_it_is_said_once();
}

TEST_F(AWorkerThatIsUnable, ToAnswerChargesNothing) {
  collector.on_answer = [](Lease const&) { throw WorkerUnable("The disk is full."); };
  open();
  run();
  expect_it_is_said_once();
}

TEST_F(AWorkerThatIsUnable, ToOpenChargesNothing) {
  open({.open = [](Lease const&) -> std::unique_ptr<LeaseInput> { throw WorkerUnable("The disk is full."); }});
  run();
  expect_it_is_said_once();
}

}  // namespace
}  // namespace penstock
