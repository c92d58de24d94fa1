// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/passages.hpp"

#include <gtest/gtest.h>

#include "observe/verdict/a_recording.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// A producer, a stream and an inbox.
struct ThreeRows : testing::Test {
  enum Row : std::uint32_t { producer, stream, inbox };
  Recording recording;

  ThreeRows() {
    recording.rows = {
        {"ps-fill-0", RecordRow::Kind::thread}, {"upload", RecordRow::Kind::stream}, {"inbox", RecordRow::Kind::queue}};
  }
  void put(Row row, Step step, std::int64_t begin, std::int64_t end) {
    recording.passages.push_back({recording.passages.size(), row, step, begin, end});
  }
};

TEST_F(ThreeRows, HaveTimesForEachStepThatATileWasInAndNoOther) {
  for (std::int64_t length = 1; length <= 100; ++length) put(stream, Step::upload, 1000, 1000 + length);
  put(producer, Step::fill, 0, 70);
  auto const times = step_times(recording);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].step, Step::fill);
  EXPECT_EQ(times[0].mean, nanoseconds(70));
  EXPECT_EQ(times[1].step, Step::upload);
  EXPECT_EQ(times[1].passages, 100u);
  EXPECT_EQ(times[1].total, nanoseconds(5050));
  EXPECT_EQ(times[1].mean, nanoseconds(50));
  EXPECT_EQ(times[1].p50, nanoseconds(50));
  EXPECT_EQ(times[1].p99, nanoseconds(99));
  EXPECT_EQ(times[1].most, nanoseconds(100));
}

TEST_F(ThreeRows, AreBusyForTheTimeInWhichTheyDidAnything) {
  put(producer, Step::fill, 0, 40);
  put(producer, Step::host, 30, 50);
  put(stream, Step::upload, 50, 60);
  put(stream, Step::upload, 90, 100);
  auto const rows = row_times(recording);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[producer].busy, nanoseconds(50));
  EXPECT_DOUBLE_EQ(rows[producer].share, 0.5);
  EXPECT_DOUBLE_EQ(rows[stream].share, 0.2);
  EXPECT_DOUBLE_EQ(rows[inbox].share, 0);
  EXPECT_EQ(rows[inbox].name, "inbox");
}

TEST_F(ThreeRows, AreNotBusyWhenTheyWaitUnlessWaitingIsAllTheyAreFor) {
  put(producer, Step::borrow, 0, 80);
  put(producer, Step::fill, 80, 100);
  put(inbox, Step::inbox, 20, 60);
  put(inbox, Step::inbox, 40, 70);
  auto const rows = row_times(recording);
  EXPECT_EQ(rows[producer].busy, nanoseconds(20));
  EXPECT_EQ(rows[inbox].busy, nanoseconds(50));
}

TEST_F(ThreeRows, WithoutAPassageHaveNoTimes) {
  EXPECT_TRUE(step_times(recording).empty());
  for (RowTimes const& row : row_times(recording)) EXPECT_EQ(row.share, 0);
}

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
  EXPECT_EQ(ways.in_flight, (std::vector<Interval>{{2500, 7000}, {3500, 8000}}));
  EXPECT_EQ(ways.away, (std::vector<Interval>{{200, 9000}, {1200, 10000}}));
}

TEST(TileWays, OfWhichPartWasMissedReachAsFarAsTheyWereSeen) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread), stream = run.row("upload", Kind::stream);
  run.put(1, thread, Step::borrow, 0, 10);
  run.put(2, thread, Step::fill, 10, 20);
  run.put(3, stream, Step::upload, 25, 30);
  TileWays const ways = tile_ways(run);
  EXPECT_EQ(ways.in_flight, (std::vector<Interval>{{25, 30}}));
  EXPECT_EQ(ways.away, (std::vector<Interval>{{10, 20}, {25, 30}}));
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

TEST(ADeviceAtWorkMeanwhile, IsThatForATileThatItsLaneStillEnqueues) {
  EXPECT_EQ(at_work_meanwhile(orderly_run(10)), std::chrono::nanoseconds(10 * 200))
      << "from the beginning of an upload to the end of enqueue";
  ARecording run;
  auto const lane = run.row("lane", Kind::thread), stream = run.row("stream", Kind::stream);
  run.put(1, lane, Step::enqueue, 0, 100);
  run.put(1, stream, Step::upload, 5, 15);
  run.put(1, stream, Step::stage, 20, 90);
  run.put(1, stream, Step::download, 100, 110);
  run.put(2, lane, Step::enqueue, 110, 210);
  run.put(2, stream, Step::upload, 115, 125);
  run.put(2, stream, Step::stage, 130, 250);
  EXPECT_EQ(at_work_meanwhile(run), std::chrono::nanoseconds(150))
      << "70 and 80 of kernels, which are longer than 10 and 10 of uploads";
  run.every = 4;
  EXPECT_EQ(at_work_meanwhile(run), std::chrono::nanoseconds(600));
}

TEST(ADeviceAtWorkMeanwhile, CountsForAllTilesOfABatchAndNotForThoseOfOtherLanes) {
  ARecording run;
  auto const lane = run.row("lane", Kind::thread), other = run.row("other lane", Kind::thread),
             stream = run.row("stream", Kind::stream);
  run.put(1, lane, Step::enqueue, 0, 50);
  run.put(2, lane, Step::enqueue, 50, 100);
  run.put(3, other, Step::enqueue, 90, 400);
  run.put(1, stream, Step::stage, 60, 90);
  run.put(2, stream, Step::stage, 90, 120);
  EXPECT_EQ(at_work_meanwhile(run), std::chrono::nanoseconds(40));
}

TEST(ADeviceAtWorkMeanwhile, IsNotKnownOfTilesWhoseEnqueueIsNot) {
  ARecording run;
  auto const stream = run.row("stream", Kind::stream);
  run.put(1, stream, Step::stage, 60, 90);
  EXPECT_EQ(at_work_meanwhile(run), std::chrono::nanoseconds(0));
}

/// A thousand passages of 10 ns, one after the other, and one that lasts all the time.
Recording thousand_and_one() {
  Recording recording{.rows = {{"a", RecordRow::Kind::thread}}, .passages = {}};
  for (std::int64_t i = 0; i < 1000; ++i) {
    recording.passages.push_back({static_cast<std::uint64_t>(i), 0, Step::fill, 10 * i, 10 * i + 10});
  }
  recording.passages.push_back({1000, 0, Step::borrow, 0, 10'000});
  return recording;
}

TEST(Within, CutsWhatReachesOut) {
  Recording const cut = within(thousand_and_one(), 95, 205);
  EXPECT_EQ(cut.passages.size(), 13u) << "nine whole ones, two that are cut, one from end to end, and the long one";
  std::int64_t sum = 0;
  for (Passage const& passage : cut.passages) {
    EXPECT_GE(passage.begin, 95);
    EXPECT_LE(passage.end, 205);
    sum += passage.end - passage.begin;
  }
  EXPECT_EQ(sum, 2 * 110);
  EXPECT_EQ(cut.rows.size(), 1u);
}

TEST(MiddleOf, IsAStretchWithAllThatTouchesIt) {
  Recording const some = middle_of(thousand_and_one(), 101);
  ASSERT_LE(some.passages.size(), 101u);
  EXPECT_GE(some.passages.size(), 50u);
  bool has_long = false;
  for (Passage const& passage : some.passages) {
    has_long = has_long || passage.tile == 1000;
    if (passage.tile == 1000) continue;
    EXPECT_NEAR(static_cast<double>(passage.begin), 5000, 1000);
  }
  EXPECT_TRUE(has_long);
}

TEST(MiddleOf, IsAllOfWhatIsSmallEnough) {
  EXPECT_EQ(middle_of(thousand_and_one(), 1001).passages.size(), 1001u);
  EXPECT_TRUE(middle_of(Recording{}, 5).passages.empty());
}

}  // namespace
}  // namespace penstock
