// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/open_loop.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include <gtest/gtest.h>

#include "programs/measure/filler.hpp"

namespace penstock::measure {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Seen to fail with a meter whose window opens with the first tile behind the warm-up.
TEST(AMeterOfAPipeline, CountsNoTileThatWasInFlightAtItsStart) {
  PipelineOptions made;
  made.tuning.tiles = 3;
  Meter meter = meter_of(made, {}, std::chrono::hours(1), {});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(meter.count());
  EXPECT_TRUE(meter.count());
  EXPECT_FALSE(meter.count());
}

TEST(AMeterOfAPipeline, WaitsNoLongerForThemThanAWindow) {
  PipelineOptions made;
  made.tuning.tiles = 1000;
  Meter meter = meter_of(made, {}, {}, {});
  for (int i = 0; i < 3; ++i) meter.count();
  EXPECT_TRUE(meter.over());
}

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

TEST(ALoadOfTiles, WarmsUpUntilLanesHaveTriedAllTheyTry) {
  PipelineOptions const made{.lanes = 2, .tuning = {.slots = 8}};
  EXPECT_EQ(settling_tiles(made), 2 * 88U) << "two ways 32 times, behind sixteen, and a graph for each slot";
  Load const load = load_at(1e6, made, microseconds(1), milliseconds(200));
  EXPECT_EQ(load.tiles_per_second, 1e6);
  EXPECT_EQ(load.warm_up, settling_tiles(made));
  EXPECT_EQ(load.counted, 200'000U);
  EXPECT_EQ(load_at(1e6, made, milliseconds(50), milliseconds(200)).warm_up, 50'000U) << "so long at least";
}

TEST(ALoadOfTiles, WarmsUpWithAGraphForEachSlot) {
  PipelineOptions made{.lanes = 2, .tuning = {.slots = 512, .graphs = Graphs::never}};
  EXPECT_EQ(settling_tiles(made), 0U) << "there is nothing to find out";
  made.tuning.graphs = Graphs::automatic;
  EXPECT_GE(settling_tiles(made), 2 * (512 + 80));
}

TEST(ALoadOfTiles, TakesSecondsHoweverRareTheyAre) {
  PipelineOptions const made{.lanes = 2, .tuning = {.slots = 512}};
  Load const slow = load_at(5, made, milliseconds(50), milliseconds(200));
  EXPECT_EQ(slow.warm_up, 10U);
  EXPECT_EQ(slow.counted, 50U);
  Load const slower = load_at(0.01, made, milliseconds(50), milliseconds(200));
  EXPECT_EQ(slower.warm_up, 0U);
  EXPECT_EQ(slower.counted, 1U);
}

/// The source of the built-in job, and one that has no tile.
struct TheTimeToFill : testing::Test {
  static std::chrono::nanoseconds of(Fill fill) {
    return time_to_fill([fill](Pool const&) { return std::make_unique<Filler>(fill, 4096, ""); },
                        {.input_bytes = 4096});
  }
};

TEST_F(TheTimeToFill, IsWhatOneTileMostlyTakes) {
  EXPECT_GT(of(Fill::memory).count(), 0);
}

TEST_F(TheTimeToFill, IsNoneWhereThereIsNoTile) {
  auto const nothing = [](Pool const&) {
    return std::make_unique<SerialSource<std::function<std::optional<std::size_t>(Tile&)>>>(
        [](Tile&) { return std::nullopt; });
  };
  EXPECT_EQ(time_to_fill(nothing, {.input_bytes = 4096}).count(), 0);
}

/// Three tiles that are so far apart, and a thread that may stop them.
struct AnOpenLoop : testing::Test {
  Filler filler{Fill::none, 64, ""};
  std::stop_source stop;

  OpenLoop loop(std::chrono::duration<double> apart) {
    return {filler, {.tiles_per_second = 1 / apart.count(), .counted = 3}, stop.get_token()};
  }
  static Tile number(std::uint64_t sequence) {
    Tile tile;
    tile.sequence = sequence;
    return tile;
  }
};

TEST_F(AnOpenLoop, HasATileWhenItIsDue) {
  OpenLoop source = loop(milliseconds(1));
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    Tile tile = number(sequence);
    ASSERT_TRUE(source.next(tile));
    source.fill(tile);
    EXPECT_GE(OpenLoop::Clock::now(), source.due(sequence));
  }
  EXPECT_EQ(source.due(2) - source.due(0), milliseconds(2));
  Tile after = number(3);
  EXPECT_FALSE(source.next(after));
}

/// Seen to fail with a clock that starts when the source is made.
TEST_F(AnOpenLoop, BeginsWhenItsFirstTileIsAskedFor) {
  OpenLoop source = loop(milliseconds(1));
  auto const before = OpenLoop::Clock::now();
  Tile tile = number(0);
  ASSERT_TRUE(source.next(tile));
  EXPECT_GE(source.due(0), before);
}

/// Seen to fail with a source that notes all tiles.
TEST_F(AnOpenLoop, DoesNotCountTilesOfItsWarmUp) {
  OpenLoop source{filler, {.tiles_per_second = 1000, .warm_up = 2, .counted = 3}, stop.get_token()};
  Tile first = number(0), last = number(4), after = number(5);
  EXPECT_TRUE(source.next(first));
  EXPECT_TRUE(source.next(last));
  EXPECT_FALSE(source.next(after));
  for (std::uint64_t const counted : {2U, 3U, 4U}) source.arrived(counted, source.due(counted) + microseconds(counted));
  for (std::uint64_t const warming : {0U, 1U}) {
    source.arrived(warming, source.due(warming) + std::chrono::hours(1));
  }
  Latency const latency = source.latency();
  EXPECT_EQ(latency.load_tiles_per_second, 1000);
  EXPECT_EQ(latency.p50, 3);
  EXPECT_EQ(latency.p99, 4);
  EXPECT_EQ(latency.p999, 4);
}

/// Seen to fail with a source that goes on.
TEST_F(AnOpenLoop, IsGivenUpOnceATileIsTooLate) {
  OpenLoop source{filler,
                  {.tiles_per_second = 1000, .warm_up = 200, .counted = 3, .most_late = milliseconds(500)},
                  stop.get_token()};
  Tile first = number(0), second = number(1);
  ASSERT_TRUE(source.next(first));
  source.arrived(0, source.due(0) + milliseconds(500));
  EXPECT_TRUE(source.kept_up());
  source.arrived(1, source.due(1) + milliseconds(501));
  EXPECT_FALSE(source.kept_up());
  EXPECT_FALSE(source.next(second)) << "as well if it would not count";
}

TEST_F(AnOpenLoop, OfRareTilesIsNotGivenUpForAFewOfThem) {
  OpenLoop source{filler, {.tiles_per_second = 1, .counted = 3, .most_late = milliseconds(500)}, stop.get_token()};
  Tile first = number(0);
  ASSERT_TRUE(source.next(first));
  source.arrived(0, source.due(100));
  EXPECT_TRUE(source.kept_up());
  source.arrived(1, source.due(102));
  EXPECT_FALSE(source.kept_up());
}

TEST_F(AnOpenLoop, EndsOnceATileHasFailed) {
  OpenLoop source = loop(milliseconds(1));
  source.fail();
  Tile tile = number(0);
  EXPECT_FALSE(source.next(tile));
}

TEST_F(AnOpenLoop, WaitsNoLongerThanUntilItIsStopped) {
  OpenLoop source = loop(std::chrono::hours(1));
  Tile first = number(0), tile = number(2);
  ASSERT_TRUE(source.next(first));
  ASSERT_TRUE(source.next(tile)) << "without a wait";
  stop.request_stop();
  source.fill(tile);
  EXPECT_LT(OpenLoop::Clock::now(), source.due(2));
  EXPECT_FALSE(source.next(tile));
}

}  // namespace
}  // namespace penstock::measure
