// SPDX-License-Identifier: Apache-2.0
// Tests the fate of the tiles that a pipeline was given when it is drained, stopped or destroyed, whatever tells its
// lanes that one is done.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/flow/held_lanes.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

TEST_P(PipelineBySignal, CompletesAllThatItWasGivenAtWhateverMomentItIsDrained) {
  open();
  for (std::uint64_t count = 0; count <= 8; ++count) {
    SCOPED_TRACE(count);
    std::size_t const before = sunk().size();
    pipeline().start(add_one(), note());
    hand_in(count);
    Report const report = pipeline().drain();
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(report.tiles_done, count);
    EXPECT_EQ(expect_done_or_cancelled(before, count), count);
  }
}

TEST_P(PipelineBySignal, CompletesOrCancelsAllThatItWasGivenAtWhateverMomentItIsStopped) {
  open();
  for (std::uint64_t count = 0; count <= 8; ++count) {
    SCOPED_TRACE(count);
    std::size_t const before = sunk().size();
    pipeline().start(add_one(), note());
    hand_in(count);
    pipeline().stop();
    EXPECT_FALSE(pipeline().feed().borrow(std::stop_token{}));
    Report const report = pipeline().drain();
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.tiles(), count);
    EXPECT_EQ(expect_done_or_cancelled(before, count), report.tiles_done);
  }
}

TEST_P(PipelineBySignal, CompletesOrCancelsAllThatItWasGivenAtWhateverMomentItDies) {
  for (std::uint64_t count = 0; count <= 8; ++count) {
    SCOPED_TRACE(count);
    std::size_t const before = sunk().size();
    open().start(add_one(), note());
    hand_in(count);
    destroy_pipeline();
    expect_done_or_cancelled(before, count);
  }
}

/// A thread that borrows holds the run, and may be the last that does: long after the next has begun.
TEST_P(PipelineBySignal, IsAsNewAfterADrainThatThrewWhoeverWaitsForATile) {
  open();
  pipeline().start(add_one(), note());
  std::vector<Loan> all;
  while (auto loan = pipeline().feed().try_borrow()) all.push_back(std::move(*loan));
  ASSERT_FALSE(all.empty());
  // It wakes up because the run is over, or late, with one of the tiles that come home below.
  std::jthread waits([&] { static_cast<void>(pipeline().feed().borrow(std::stop_token{})); });
  while (pipeline().pool().waiting() == 0) std::this_thread::yield();
  EXPECT_THROW(static_cast<void>(pipeline().drain([] { throw std::runtime_error("The rest is lost."); })),
               std::runtime_error);
  pipeline().start(add_one(), note());
  all.clear();
  waits.join();
  std::size_t const before = sunk().size();
  hand_in(2);
  EXPECT_TRUE(pipeline().feed().try_borrow());
  Report const report = pipeline().drain();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(expect_done_or_cancelled(before, 2), 2U);
}

TEST_P(PipelineBySignal, WaitsForWhatItsDeviceHoldsAndCancelsTheRestWhenItIsStoppedOrDies) {
  if (GetParam().run_to_completion) GTEST_SKIP() << "A lane that is kept in a kernel has one tile, and takes no other.";
  for (bool const dies : {false, true}) {
    SCOPED_TRACE(dies);
    std::size_t const before = sunk().size();
    HeldLanes held(kernels());
    open().start(add_one([&](DeviceTile const&, StreamRef stream) { held.hold(stream); }), note());
    hand_in(8);
    held.await(4);
    std::jthread const releaser([&] {
      while (sunk().size() < before + 4) std::this_thread::yield();
      held.release();
    });
    if (dies) {
      destroy_pipeline();
    } else {
      pipeline().stop();
      EXPECT_EQ(pipeline().drain().tiles_cancelled, 4u);
    }
    EXPECT_EQ(expect_done_or_cancelled(before, 8), 4u) << "two lanes had two in flight";
  }
}

TEST_P(PipelineBySignal, RunsAgainAfterItWasStopped) {
  open().start(add_one(), note());
  hand_in(8);
  pipeline().stop();
  static_cast<void>(pipeline().drain());
  CountingSource source(20);
  EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 20u);
  handed_in += 20;
  EXPECT_EQ(expect_done_or_cancelled(8, 20), 20u);
}

TEST_P(PipelineBySignal, CompletesWhatItTookFromThreadsThatFeedItUntilItIsStoppedOrDrained) {
  for (bool const stopped : {false, true}) {
    SCOPED_TRACE(stopped);
    open();
    std::size_t const before = sunk().size();
    std::atomic<std::uint64_t> taken{0}, right{0};
    pipeline().start(add_one(), note([&](Completion& completion) {
                       auto const last = static_cast<std::byte>(completion.loan->tag + 1);
                       auto const output = completion.loan->produced_output();
                       bool const all = std::count(output.begin(), output.end(), last) == tile_bytes;
                       if (completion.ok() && all) right.fetch_add(1);
                     }));
    auto const feed_on = [&](std::uint64_t tag) {
      Feed feed = pipeline().feed();
      for (auto loan = feed.borrow(std::stop_token{}); loan; loan = feed.borrow(std::stop_token{}), ++tag) {
        (*loan)->tag = tag;
        (*loan)->filled = tile_bytes;
        std::ranges::fill((*loan)->input(), static_cast<std::byte>(tag));
        try {
          feed.submit(std::move(*loan));
        } catch (Error const& error) {
          EXPECT_EQ(error.kind(), ErrorKind::ended) << "it was drained meanwhile: " << error.what();
          return;
        }
        taken.fetch_add(1);
      }
    };
    Report report;
    {
      std::jthread const one(feed_on, 0), other(feed_on, 100);
      while (sunk().size() < before + 20) std::this_thread::yield();
      if (stopped) pipeline().stop();
      report = pipeline().drain();
    }
    handed_in += taken;
    EXPECT_EQ(report.tiles(), taken);
    EXPECT_EQ(report.tiles_done, right);
    EXPECT_EQ(report.tiles_failed, 0u);
    EXPECT_EQ(report.stopped, stopped);
    if (!stopped) {
      EXPECT_EQ(report.tiles_done, taken);
    }
  }
}

}  // namespace
}  // namespace penstock
