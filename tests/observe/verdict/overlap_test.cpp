// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/overlap.hpp"

#include <random>

#include <gtest/gtest.h>

#include "observe/verdict/passages.hpp"
#include "observe/verdict/run_figures.hpp"

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

TEST(Intervals, AreTheFewestStretchesThatHoldTheSameMoments) {
  Intervals const moments({{30, 40}, {0, 10}, {5, 12}, {32, 35}, {12, 20}});
  EXPECT_EQ(moments.all(), (std::vector<Interval>{{0, 20}, {30, 40}}));
  EXPECT_EQ(moments.length(), 30);
}

TEST(Intervals, HoldNothingOfWhatEndsWhereItBegins) {
  EXPECT_TRUE(Intervals({{5, 5}, {9, 7}}).empty());
  EXPECT_EQ(Intervals().length(), 0);
  EXPECT_EQ(Intervals({{0, 10}, {4, 4}, {20, 20}}), Intervals({{0, 10}}));
}

TEST(Intervals, MayLieBeforeTheBeginning) {
  EXPECT_EQ(Intervals({{-5, 3}, {-20, -10}}).length(), 18);
}

TEST(Intervals, ThatTouchShareNoMoment) {
  EXPECT_TRUE(common(Intervals({{0, 10}}), Intervals({{10, 20}})).empty());
  EXPECT_EQ(united(Intervals({{0, 10}}), Intervals({{10, 20}})), Intervals({{0, 20}}));
}

TEST(Intervals, ShareWhatBothHoldPieceByPiece) {
  Intervals const one({{0, 10}, {20, 30}, {40, 50}});
  Intervals const other({{5, 25}, {28, 42}, {44, 46}, {60, 70}});
  EXPECT_EQ(common(one, other), Intervals({{5, 10}, {20, 25}, {28, 30}, {40, 42}, {44, 46}}));
  EXPECT_EQ(common(one, Intervals()), Intervals());
}

/// Intervals stand for sets of single moments.
TEST(Intervals, AgreeWithSetsOfMomentsWhateverTheyAreMadeOf) {
  constexpr std::int64_t end = 60;
  std::mt19937 chance(7);
  std::uniform_int_distribution<std::int64_t> moment(0, end);
  for (int round = 0; round < 500; ++round) {
    std::vector<Interval> parts[2];
    std::vector<bool> held[2] = {std::vector<bool>(end), std::vector<bool>(end)};
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < round % 9; ++k) {
        Interval const part{moment(chance), moment(chance)};
        parts[side].push_back(part);
        for (auto at = part.begin; at < part.end; ++at) held[side][static_cast<std::size_t>(at)] = true;
      }
    }
    Intervals const one(parts[0]), other(parts[1]);
    std::int64_t either = 0, both = 0;
    for (std::size_t at = 0; at < end; ++at) {
      either += held[0][at] || held[1][at] ? 1 : 0;
      both += held[0][at] && held[1][at] ? 1 : 0;
    }
    ASSERT_EQ(united(one, other).length(), either);
    ASSERT_EQ(common(one, other).length(), both);
    ASSERT_EQ(common(one, other), common(other, one));
  }
}

/// A timeline by hand: of a tile for each 100 us.
struct ADevicesTimeline : testing::Test {
  Recording recording;
  std::uint64_t tile = 0;

  ADevicesTimeline() { recording.rows = {{"upload"}, {"compute"}, {"download"}}; }
  void put(Step step, std::int64_t begin_us, std::int64_t end_us) {
    auto const row = static_cast<std::uint32_t>(static_cast<int>(step) - static_cast<int>(Step::upload));
    recording.passages.push_back(
        {.tile = tile, .row = row, .step = step, .begin = 1000 * begin_us, .end = 1000 * end_us});
  }
  DeviceTimes times() const { return device_times(recording).value(); }
};

TEST_F(ADevicesTimeline, OfOneThingAfterTheOtherGainsNothing) {
  put(Step::upload, 0, 20);
  put(Step::stage, 20, 60);
  put(Step::download, 60, 80);
  EXPECT_DOUBLE_EQ(times().upload.value(), 20e-6);
  EXPECT_DOUBLE_EQ(times().kernel.value(), 40e-6);
  EXPECT_DOUBLE_EQ(times().download.value(), 20e-6);
  EXPECT_DOUBLE_EQ(times().overlap.value(), 0);
  EXPECT_DOUBLE_EQ(times().speedup.value(), 1);
  EXPECT_DOUBLE_EQ(times().possible_speedup.value(), 2);
  EXPECT_EQ(
      describe(times()),
      "A tile takes upload 20.0 us, kernel 40.0 us, download 20.0 us; overlap is 0 %, which is 1.00 x of one after "
      "the other (1 - measured / one after the other: 0 %), and 2.0 x is possible.");
}

TEST_F(ADevicesTimeline, OfThreeTilesAtOnceGainsAllThatIsPossibleWhenTheLongestHidesTheRest) {
  // Kernels without a pause from 0 to 90, and copies beside them.
  for (tile = 0; tile < 3; ++tile) {
    auto const at = static_cast<std::int64_t>(30 * tile);
    put(Step::upload, at, at + 10);
    put(Step::stage, at, at + 30);
    put(Step::download, at + 10, at + 30);
  }
  EXPECT_DOUBLE_EQ(times().upload.value(), 10e-6);
  EXPECT_DOUBLE_EQ(times().kernel.value(), 30e-6);
  EXPECT_DOUBLE_EQ(times().download.value(), 20e-6);
  EXPECT_DOUBLE_EQ(times().overlap.value(), 1);
  EXPECT_DOUBLE_EQ(times().speedup.value(), 2);
  EXPECT_DOUBLE_EQ(times().possible_speedup.value(), 2);
}

TEST_F(ADevicesTimeline, OfAWindowHasTheMeansOfWhatLiesWholeInIt) {
  for (std::int64_t k = 0; k < 4; ++k) put(Step::stage, 20 * k, 20 * k + 20);
  recording = within(recording, 10'000, 70'000);
  EXPECT_DOUBLE_EQ(times().kernel.value(), 20e-6);
  recording = within(recording, 25'000, 35'000);
  EXPECT_DOUBLE_EQ(times().kernel.value(), 10e-6) << "there is no other";
}

TEST_F(ADevicesTimeline, HasWhatAllUploadsOfATileTakeTogether) {
  recording.rows.push_back({"upload 2"});
  for (tile = 0; tile < 3; ++tile) {
    put(Step::upload, 100 * static_cast<std::int64_t>(tile), 100 * static_cast<std::int64_t>(tile) + 20);
    Passage second = recording.passages.back();
    second.row = 3, second.end += 10'000;
    recording.passages.push_back(second);
  }
  EXPECT_DOUBLE_EQ(times().upload.value(), 50e-6);
}

TEST_F(ADevicesTimeline, CountsPausesForNothing) {
  put(Step::upload, 0, 40);
  put(Step::stage, 20, 60);
  tile = 1;
  put(Step::upload, 1000, 1040);
  put(Step::stage, 1020, 1060);
  EXPECT_DOUBLE_EQ(times().speedup.value(), 160.0 / 120);
  EXPECT_DOUBLE_EQ(times().possible_speedup.value(), 2);
  EXPECT_DOUBLE_EQ(times().overlap.value(), 0.5);
  EXPECT_FALSE(times().download);
}

TEST_F(ADevicesTimeline, OfOneKindOnlyHasNothingToOverlap) {
  put(Step::upload, 0, 40);
  EXPECT_FALSE(times().overlap);
  EXPECT_DOUBLE_EQ(times().possible_speedup.value(), 1);
  EXPECT_EQ(describe(times()),
            "A tile takes upload 40.0 us; that is 1.00 x of one after the other (1 - measured / one after the other: "
            "0 %), and 1.00 x is possible.");
}

TEST_F(ADevicesTimeline, OfSomeTilesTellsWhatTheyTakeAndNoMore) {
  recording.every = 4;
  put(Step::upload, 0, 40);
  put(Step::stage, 20, 60);
  EXPECT_DOUBLE_EQ(times().upload.value(), 40e-6);
  EXPECT_FALSE(times().overlap || times().speedup || times().possible_speedup);
  EXPECT_EQ(describe(times()), "A tile takes upload 40.0 us, kernel 40.0 us.");
}

TEST_F(ADevicesTimeline, OfNothingHasNone) {
  EXPECT_FALSE(device_times(recording));
}

}  // namespace
}  // namespace penstock
