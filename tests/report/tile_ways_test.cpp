// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/tile_ways.hpp"

#include "report/a_recording.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

using Kind = RecordRow::Kind;

TEST(TileWays, LeadFromTheFirstPassageToTheLastAndPastQueues) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread), queue = run.row("queue", Kind::queue);
  run.put(1, thread, Step::sink, 50, 60);
  run.put(1, queue, Step::inbox, 20, 30);
  run.put(1, thread, Step::enqueue, 30, 40);
  run.put(2, thread, Step::fill, 0, 10);
  run.put(1, thread, Step::fill, 10, 20);
  EXPECT_EQ(tile_ways(run).parts,
            (std::vector{WayPart::last, WayPart::none, WayPart::middle, WayPart::none, WayPart::first}));
}

TEST(TileWays, PassOverWhatTookNoTime) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread);
  run.put(1, thread, Step::fill, 0, 10);
  run.put(1, thread, Step::host, 10, 10);
  run.put(1, thread, Step::sink, 20, 30);
  EXPECT_EQ(tile_ways(run).parts, (std::vector{WayPart::first, WayPart::none, WayPart::last}));
}

TEST(TileWays, AreInFlightFromEnqueueToNoticeAndAwayFromBorrowToSink) {
  TileWays const ways = tile_ways(orderly_run(2));
  EXPECT_EQ(ways.in_flight, (std::vector<Stretch>{{2500, 7000}, {3500, 8000}}));
  EXPECT_EQ(ways.away, (std::vector<Stretch>{{200, 9000}, {1200, 10000}}));
}

TEST(TileWays, OfWhichPartWasMissedReachAsFarAsTheyWereSeen) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread), stream = run.row("upload", Kind::stream);
  run.put(1, thread, Step::borrow, 0, 10);
  run.put(2, thread, Step::fill, 10, 20);
  run.put(3, stream, Step::upload, 25, 30);
  TileWays const ways = tile_ways(run);
  EXPECT_EQ(ways.in_flight, (std::vector<Stretch>{{25, 30}}));
  EXPECT_EQ(ways.away, (std::vector<Stretch>{{10, 20}, {25, 30}}));
}

TEST(TilesInFlight, AreCountedOnAverage) {
  ARecording run;
  auto const stream = run.row("stream", Kind::stream);
  EXPECT_EQ(mean_in_flight(run), 0);
  run.put(1, stream, Step::upload, 0, 100);
  EXPECT_DOUBLE_EQ(mean_in_flight(run), 1);
  run.put(2, stream, Step::upload, 50, 100);
  run.put(3, stream, Step::upload, 0, 50);
  EXPECT_DOUBLE_EQ(mean_in_flight(run), 2);
  run.every = 4;
  EXPECT_DOUBLE_EQ(mean_in_flight(run), 8);
}

}  // namespace
}  // namespace penstock
