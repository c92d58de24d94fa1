// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/lease_source.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "lease/a_pipeline_on_leases.hpp"
#include "support/child_of_fork.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

using support::APipelineOnLeases;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(APipelineOnLeases, AnswersEachOnceAllItsTilesAreDone) {
  enqueue(100);
  open({.leases = 7});
  Report const report = run();
  EXPECT_TRUE(report.ok()) << describe(report);
  source->finish();
  EXPECT_TRUE(ledger.progress().finished());
  expect_all_answered(100);
  EXPECT_EQ(source->counts().acknowledged, 100U);
  EXPECT_EQ(source->counts().taken, 100U);
  EXPECT_THAT(source->remarks(), IsEmpty());
}

TEST_F(APipelineOnLeases, ReadsPartsOfFiles) {
  std::string const text = text_of(7, 1000);
  std::ofstream(path("file")) << text;
  ledger.enqueue({{{.path = path("file")},
                   {.path = path("file"), .offset = 100, .length = 300},
                   {.path = path("file"), .offset = 990},
                   {.path = path("file"), .offset = 1000, .length = 0}}},
                 true);
  open();
  EXPECT_TRUE(run().ok());
  source->finish();
  auto const answers = ledger.answers();
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[0].answer, text);
  EXPECT_EQ(answers[1].answer, text.substr(100, 300));
  EXPECT_EQ(answers[2].answer, text.substr(990));
  EXPECT_EQ(answers[3].answer, "");
}

/// Seen to fail where a tile that was cancelled counted as a failure.
TEST_F(APipelineOnLeases, GivesBackWhatIsCancelledAndChargesNothing) {
  enqueue(60);
  support::Gate gate;
  collector.on_take = [&](LeasePart const&) { gate.pass(); };
  open();
  std::jthread runs([&] { run().unread.mark_read(); });
  gate.await_reached();
  pipeline.stop();
  stop.request_stop();
  gate.open();
  runs.join();
  source->finish();
  LedgerProgress const progress = ledger.progress();
  EXPECT_EQ(progress.out, 0U);
  EXPECT_EQ(progress.done + progress.ready, 60U);
  EXPECT_GT(progress.ready, 0U);
  auto const owner = ledger.join();
  for (Lease const& lease : owner->exchange({}, 60).taken) EXPECT_EQ(lease.charged, 1U);
}

TEST_F(APipelineOnLeases, FinishesTheLeasesOnTheWayWhenItsInputIsStopped) {
  enqueue(60);
  support::Gate gate;
  collector.on_take = [&](LeasePart const&) { gate.pass(); };
  open();
  std::jthread runs([&] { EXPECT_TRUE(run().ok()); });
  gate.await_reached();
  stop.request_stop();
  gate.open();
  runs.join();
  source->finish();
  EXPECT_EQ(source->counts().acknowledged + source->counts().given_back, source->counts().taken);
  EXPECT_GT(source->counts().acknowledged, 0U);
  // Another process goes on.
  std::stop_source().swap(stop);
  collector.on_take = [](LeasePart const&) {};
  open();
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(60);
}

/// Seen to fail where a lease whose answer comes later counted as answered.
TEST_F(APipelineOnLeases, AwaitsAnswersThatComeLater) {
  enqueue(3);
  collector.first_tries_later = true;
  std::vector<Lease> waiting;
  support::Gate all;
  collector.on_answer = [&](Lease const& lease) {
    waiting.push_back(lease);
    if (lease.tries == 1 && waiting.size() == 3) all.pass();
  };
  open();
  std::jthread later([&] {
    all.await_reached();
    EXPECT_EQ(ledger.progress().done, 0U);
    std::ranges::sort(waiting, {}, &Lease::number);
    std::vector<Lease> const held = waiting;
    all.open();
    source->acknowledge(held[0], "first");
    source->fail(held[1], "no disk");
    source->acknowledge(held[2], "third");
    source->acknowledge(held[2], "a second time");
  });
  EXPECT_TRUE(run().ok());
  source->finish();
  EXPECT_TRUE(ledger.progress().finished());
  auto const answers = ledger.answers();
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0].answer, "first");
  EXPECT_EQ(answers[1].answer, collector.bytes[2]) << "of its second try";
  EXPECT_EQ(answers[2].answer, "third");
}

TEST_F(APipelineOnLeases, WaitsForWhatOthersMayGiveBack) {
  enqueue(5);
  auto other = ledger.join();
  ASSERT_THAT(other->exchange({}, 2).taken, SizeIs(2));
  open();
  support::Gate gate;
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 5) gate.pass();
  };
  std::jthread leaves([&] {
    gate.await_reached();
    gate.open();
    other.reset();
  });
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(5);
}

TEST_F(APipelineOnLeases, LeavesTheSourceOfAParentAlone) {
  enqueue(5);
  open();
  EXPECT_EQ(support::exit_code_of_child([&] {
              source.reset();
              return 7;
            }),
            7);
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(5);
}

/// Seen to fail (it did not end) where settlements waited for the next take.
TEST_F(APipelineOnLeases, SaysSoonWhatIsAnsweredWhileTheNextLeaseIsSlow) {
  enqueue(30);
  support::Gate slow;
  std::atomic<int> answered = 0;
  collector.on_answer = [&](Lease const&) { ++answered; };
  collector.on_take = [&](LeasePart const&) {
    if (answered >= 4) slow.pass();
  };
  open({.leases = 16});
  std::jthread const looks([&] {
    while (ledger.progress().done < 4) std::this_thread::yield();
    slow.open();
  });
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(30);
}

/// One tile is cut, and the rest of what was taken waits. Seen to fail where it took as many as the options say.
TEST_F(APipelineOnLeases, TakesNoMoreLeasesTogetherThanThereAreTiles) {
  enqueue(100);
  open({.leases = 64});
  Loan const loan = pipeline.pool().borrow();
  EXPECT_TRUE(source->next(*loan));
  EXPECT_EQ(source->counts().taken, 8U);
}

TEST_F(APipelineOnLeases, NeedsTilesWithAnInput) {
  Pipeline without(device, {.tile = {.input_bytes = 0, .output_bytes = 8}, .tuning = {.tiles = 2}});
  EXPECT_THROW(LeaseSource(ledger, without.pool(), collector), Error);
}

}  // namespace
}  // namespace penstock
