// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/open_loop.hpp"

#include <chrono>
#include <stop_token>

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

using std::chrono::microseconds;

TEST(ProducersOfAnOpenLoop, AreOneIfNothingIsFilled) {
  EXPECT_EQ(producers_at(1e6, std::chrono::nanoseconds(0)), 1U);
}

TEST(ProducersOfAnOpenLoop, AreAsManyAsFillAtOnceAndOneMore) {
  EXPECT_EQ(producers_at(1000, microseconds(1)), 2U);
  EXPECT_EQ(producers_at(1000, microseconds(500)), 2U);
  EXPECT_EQ(producers_at(1000, microseconds(501)), 3U);
  EXPECT_EQ(producers_at(1000, microseconds(5000)), 11U);
  EXPECT_EQ(producers_at(1e9, microseconds(5000)), PipelineOptions::most_threads);
}

TEST(TheTimeToFill, IsNoneWhereNothingIsFilled) {
  Filler nothing({.tile = 4096, .fill = Fill::none}, "");
  EXPECT_EQ(time_to_fill(nothing, 4096).count(), 0);
  Filler memory({.tile = 4096, .fill = Fill::memory}, "");
  EXPECT_GT(time_to_fill(memory, 4096).count(), 0);
}

/// Three tiles that are so far apart, and somebody who may stop them.
struct AnOpenLoop : testing::Test {
  Filler filler{{.tile = 64, .fill = Fill::none}, ""};
  std::stop_source stop;

  OpenLoop loop(std::chrono::duration<double> apart) { return {filler, 1 / apart.count(), 3, stop.get_token()}; }
  static Tile number(std::uint64_t sequence) {
    Tile tile;
    tile.sequence = sequence;
    return tile;
  }
};

TEST_F(AnOpenLoop, HasATileWhenItIsDue) {
  OpenLoop source = loop(std::chrono::milliseconds(1));
  source.start(OpenLoop::Clock::now());
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    Tile tile = number(sequence);
    ASSERT_TRUE(source.next(tile));
    source.fill(tile);
    EXPECT_GE(OpenLoop::Clock::now(), source.due(sequence));
  }
  EXPECT_EQ(source.due(2) - source.due(0), std::chrono::milliseconds(2));
  Tile after = number(3);
  EXPECT_FALSE(source.next(after));
}

TEST_F(AnOpenLoop, EndsOnceATileHasFailed) {
  OpenLoop source = loop(std::chrono::milliseconds(1));
  source.fail();
  Tile tile = number(0);
  EXPECT_FALSE(source.next(tile));
}

TEST_F(AnOpenLoop, WaitsNoLongerThanUntilItIsStopped) {
  OpenLoop source = loop(std::chrono::hours(1));
  source.start(OpenLoop::Clock::now());
  Tile tile = number(2);
  ASSERT_TRUE(source.next(tile)) << "without a wait";
  stop.request_stop();
  source.fill(tile);
  EXPECT_LT(OpenLoop::Clock::now(), source.due(2));
  EXPECT_FALSE(source.next(tile));
}

}  // namespace
}  // namespace penstock::measure
