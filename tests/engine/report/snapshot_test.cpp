// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/report.hpp"

namespace penstock {
namespace {

using std::chrono::seconds;

Snapshot snapshot(unsigned at, std::uint64_t done) {
  Snapshot of{.at = Clock::time_point(seconds(at)),
              .run = 1,
              .running = true,
              .submitted = done + 3,
              .done = done,
              .failed = 1};
  of.lanes = {{.done = done, .bytes_up = 10 * done, .found = {.by_callback = done / 2, .by_look = done - done / 2}}};
  of.devices = {{.name = "cpu", .lanes = 1, .done = done}};
  return of;
}

TEST(Rates, AreTheDifferenceOfTwoSnapshotsByTheirTime) {
  auto const between = rates(snapshot(10, 100), snapshot(12, 300));
  ASSERT_TRUE(between);
  EXPECT_DOUBLE_EQ(between->seconds, 2);
  EXPECT_DOUBLE_EQ(between->done, 100);
  EXPECT_DOUBLE_EQ(between->submitted, 100);
  EXPECT_DOUBLE_EQ(between->failed, 0);
  EXPECT_DOUBLE_EQ(between->bytes_up, 1000);
  ASSERT_EQ(between->devices.size(), 1u);
  EXPECT_DOUBLE_EQ(between->devices[0], 100);
  EXPECT_EQ(between->found, (FoundTiles{.by_callback = 100, .by_look = 100}));
}

TEST(Rates, AreThereOnlyWithinOneRunAndForward) {
  Snapshot const early = snapshot(10, 100), late = snapshot(12, 300);
  EXPECT_FALSE(rates(late, early));
  EXPECT_FALSE(rates(early, early)) << "no time between them";
  Snapshot other = late;
  other.run = 2;
  EXPECT_FALSE(rates(early, other));
  other = late;
  other.running = false;
  EXPECT_FALSE(rates(early, other));
}

TEST(FoundTiles, AreToldInPerCent) {
  EXPECT_EQ(describe(FoundTiles{.by_callback = 60, .by_look = 39, .by_watchdog = 1}),
            "60 % by callback, 39 % by looking, 1 % by the watchdog");
  EXPECT_EQ(describe(FoundTiles{}), "");
}

/// Returns a snapshot of a run with sixteen tiles.
Snapshot with_tiles(std::size_t home, std::uint64_t under_way, std::uint64_t in_flight) {
  Snapshot of = snapshot(12, 300);
  of.submitted = of.done + of.failed + under_way;
  of.lanes[0].put = of.lanes[0].returned + in_flight;
  of.pool = {.tiles = 16, .lent = 16 - home, .home = home};
  return of;
}

TEST(LiveLine, SaysHowFastItIsAndWhatItWaitsFor) {
  EXPECT_EQ(live_line(snapshot(10, 100), with_tiles(0, 12, 9)),
            "1.0 kB/s in, 100 tiles/s; 1 failed; 16 of 16 tiles lent; waits for the device");
  EXPECT_THAT(live_line(snapshot(10, 100), with_tiles(0, 12, 3)), testing::EndsWith("waits for the sink"));
  EXPECT_THAT(live_line(snapshot(10, 100), with_tiles(0, 2, 1)), testing::EndsWith("waits for the source"));
  EXPECT_THAT(live_line(snapshot(10, 100), with_tiles(4, 12, 9)),
              testing::EndsWith("12 of 16 tiles lent; waits for the source"));
}

TEST(LiveLine, HasNoRatesAcrossRunsAndNothingOfNone) {
  Snapshot earlier = snapshot(10, 100);
  earlier.run = 7;
  EXPECT_THAT(live_line(earlier, with_tiles(0, 12, 9)), testing::StartsWith("1 failed; 16 of 16"));
  EXPECT_EQ(live_line({}, {}), "no run goes on");
}

}  // namespace
}  // namespace penstock
