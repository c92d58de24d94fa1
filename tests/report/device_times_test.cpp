// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/device_times.hpp"

#include <gtest/gtest.h>

#include "penstock/report/stretch.hpp"

namespace penstock {
namespace {

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
      "the other, and 2.0 x is possible.");
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
            "A tile takes upload 40.0 us; that is 1.00 x of one after the other, and 1.00 x is possible.");
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
