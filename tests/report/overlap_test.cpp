// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/overlap.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// Passages of a device by hand: each call adds one of a new tile.
struct ATimeline : testing::Test {
  Recording recording;

  ATimeline() { recording.rows.push_back({"stream", RecordRow::Kind::stream}); }
  void put(Step step, std::int64_t begin, std::int64_t end) {
    recording.passages.push_back({recording.passages.size(), 0, step, begin, end});
  }
  Overlap seen() const { return overlap_of(recording); }
};

TEST_F(ATimeline, OfOneThingAfterTheOtherHasNoOverlap) {
  put(Step::upload, 0, 10);
  put(Step::stage, 10, 30);
  put(Step::download, 30, 40);
  Overlap const all = seen();
  EXPECT_EQ(all.uploading, nanoseconds(10));
  EXPECT_EQ(all.computing, nanoseconds(20));
  EXPECT_EQ(all.downloading, nanoseconds(10));
  EXPECT_EQ(all.busy, nanoseconds(40));
  EXPECT_EQ(all.window, nanoseconds(40));
  EXPECT_DOUBLE_EQ(all.speed_of_light.value(), 0.5);
  EXPECT_DOUBLE_EQ(all.overlap.value(), 0);
  EXPECT_DOUBLE_EQ(all.duplex.value(), 0);
}

TEST_F(ATimeline, OfAllAtOnceIsPerfect) {
  put(Step::upload, 0, 40);
  put(Step::stage, 0, 40);
  put(Step::download, 0, 40);
  EXPECT_DOUBLE_EQ(seen().speed_of_light.value(), 1);
  EXPECT_DOUBLE_EQ(seen().overlap.value(), 1);
  EXPECT_DOUBLE_EQ(seen().duplex.value(), 1);
}

TEST_F(ATimeline, WhoseCopiesHideBehindKernelsIsPerfectButForTheLink) {
  put(Step::stage, 0, 100);
  put(Step::upload, 10, 30);
  put(Step::download, 50, 60);
  EXPECT_DOUBLE_EQ(seen().speed_of_light.value(), 1);
  EXPECT_DOUBLE_EQ(seen().overlap.value(), 1);
  EXPECT_DOUBLE_EQ(seen().duplex.value(), 0);
}

TEST_F(ATimeline, WhoseCopiesAloneMeetIsAQuarterOfPerfect) {
  // S = 20 + 20 + 20, U = 50, max = 20: (60 - 50) / (60 - 20).
  put(Step::upload, 0, 20);
  put(Step::download, 10, 30);
  put(Step::stage, 30, 50);
  EXPECT_DOUBLE_EQ(seen().overlap.value(), 0.25);
  EXPECT_DOUBLE_EQ(seen().duplex.value(), 0.5);
  EXPECT_DOUBLE_EQ(seen().speed_of_light.value(), 0.4);
}

TEST_F(ATimeline, WithPausesIsBusyForLessThanItsWindow) {
  put(Step::upload, 100, 110);
  put(Step::stage, 150, 160);
  EXPECT_EQ(seen().window, nanoseconds(60));
  EXPECT_EQ(seen().busy, nanoseconds(20));
  EXPECT_DOUBLE_EQ(seen().speed_of_light.value(), 10.0 / 60);
}

TEST_F(ATimeline, CountsWhatTwoStreamsDoAtOnceOnce) {
  put(Step::stage, 0, 20);
  put(Step::stage, 10, 30);
  put(Step::stage, 12, 14);
  put(Step::upload, 30, 40);
  EXPECT_EQ(seen().computing, nanoseconds(30));
  EXPECT_DOUBLE_EQ(seen().overlap.value(), 0);
}

TEST_F(ATimeline, OfOneKindHasNoOverlapToSpeakOf) {
  put(Step::stage, 0, 20);
  put(Step::stage, 30, 40);
  EXPECT_DOUBLE_EQ(seen().speed_of_light.value(), 0.75);
  EXPECT_FALSE(seen().overlap);
  EXPECT_FALSE(seen().duplex);
}

TEST_F(ATimeline, ThatNothingComesBackFromHasNoDuplex) {
  put(Step::upload, 0, 20);
  put(Step::stage, 10, 30);
  EXPECT_DOUBLE_EQ(seen().overlap.value(), 0.5);
  EXPECT_FALSE(seen().duplex);
}

TEST_F(ATimeline, InALongerWindowHasPausedBeforeAndBehind) {
  put(Step::upload, 10, 30);
  put(Step::stage, 20, 50);
  Overlap const wider = in_a_window(seen(), nanoseconds(60));
  EXPECT_EQ(wider.window, nanoseconds(60));
  EXPECT_DOUBLE_EQ(wider.speed_of_light.value(), 0.5);
  EXPECT_EQ(wider.overlap, seen().overlap);
  EXPECT_EQ(in_a_window(seen(), nanoseconds(5)).window, nanoseconds(40)) << "none is shorter than what was seen";
}

TEST_F(ATimeline, WithoutADeviceHasNoFigures) {
  put(Step::fill, 0, 20);
  put(Step::enqueue, 20, 30);
  put(Step::upload, 30, 30);
  EXPECT_EQ(seen().window, nanoseconds(0));
  EXPECT_FALSE(seen().speed_of_light);
  EXPECT_FALSE(seen().overlap);
  EXPECT_FALSE(seen().duplex);
}

TEST_F(ATimeline, OfSomeTilesOnlyTellsTheirTimesAndNoMore) {
  recording.every = 8;
  put(Step::upload, 0, 10);
  put(Step::download, 5, 15);
  EXPECT_EQ(seen().uploading, nanoseconds(10));
  EXPECT_EQ(seen().window, nanoseconds(15));
  EXPECT_FALSE(seen().speed_of_light);
  EXPECT_FALSE(seen().overlap);
  EXPECT_FALSE(seen().duplex);
}

}  // namespace
}  // namespace penstock
