// SPDX-License-Identifier: Apache-2.0
#include "lease/worker_patience.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// A patience of a minute, and looks each second.
struct APatience : testing::Test {
  WorkerPatience::Time now{};
  WorkerPatience patience{60s, 2s, now};

  /// True if it is taken for hung within so many looks.
  bool hangs_within(int looks, WorkerSigns const& signs, std::chrono::seconds between = 1s) {
    for (int k = 0; k < looks; ++k) {
      now += between;
      if (patience.look(signs, now)) return true;
    }
    return false;
  }
};

TEST_F(APatience, EndsIfNothingMovesWhileLeasesAreOut) {
  EXPECT_FALSE(hangs_within(59, {.holds = true}));
  EXPECT_TRUE(hangs_within(1, {.holds = true}));
}

/// Seen to fail where the signs of a hang were those of a report alone.
TEST_F(APatience, EndsIfTheWorkerIsStoppedWhateverItHas) {
  EXPECT_FALSE(hangs_within(59, {.stopped = true}));
  EXPECT_TRUE(hangs_within(1, {.stopped = true}));
}

TEST_F(APatience, BeginsAnewWithEachMovement) {
  for (std::uint64_t moved = 1; moved < 20; ++moved) EXPECT_FALSE(hangs_within(59, {.moved = moved, .holds = true}));
}

TEST_F(APatience, DoesNotCountTimeWithoutLeasesOrInWhichItWaitsForOthers) {
  EXPECT_FALSE(hangs_within(1000, {}));
  EXPECT_FALSE(hangs_within(1000, {.holds = true, .waits = true}));
  EXPECT_FALSE(hangs_within(59, {.holds = true}));
  EXPECT_FALSE(hangs_within(1, {.holds = true, .waits = true}));
  EXPECT_FALSE(hangs_within(59, {.holds = true}));
}

/// What it says of itself is seen late each time, as all CPUs are busy.
TEST_F(APatience, DoesNotEndWhileTheWorkerSaysThatItMoves) {
  WorkerPage page{};
  page.held = 1;
  for (int k = 0; k < 1000; ++k) {
    EXPECT_FALSE(hangs_within(29, signs_of(page), 3600s));
    ++page.moved;
    EXPECT_FALSE(hangs_within(1, signs_of(page), 3600s));
  }
  EXPECT_TRUE(hangs_within(60, signs_of(page)));
}

/// Seen to fail where the time between two looks counted whole.
TEST_F(APatience, DoesNotCountTimeInWhichTheWatchingProcessDidNotRun) {
  EXPECT_FALSE(hangs_within(1, {.holds = true}, 3600s));
  EXPECT_FALSE(hangs_within(28, {.holds = true}, 3600s));
  EXPECT_TRUE(hangs_within(1, {.holds = true}, 3600s));
}

TEST(APause, DoublesWhileWorkersAreOfNoUseAndEndsWithOneThatIs) {
  WorkerPause pause(1s, 30s);
  EXPECT_EQ(pause.after_end(true), 0s);
  EXPECT_EQ(pause.after_end(false), 0s) << "once is no rule";
  for (auto const expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) EXPECT_EQ(pause.after_end(false), expected);
  EXPECT_EQ(pause.ends(), 8U);
  EXPECT_EQ(pause.after_end(true), 0s);
  EXPECT_EQ(pause.after_end(false), 0s);
  EXPECT_EQ(pause.after_end(false), 1s);
}

}  // namespace
}  // namespace penstock
