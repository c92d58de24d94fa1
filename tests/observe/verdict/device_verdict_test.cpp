// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/verdict/a_run_of_one_second.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

TEST_F(ARunOfOneSecond, IsBoundByUploadsThatNeverPause) {
  run.overlap = device_use(0.96, 0.4, 0.3, 0.98);
  alone.upload = 10'200;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::upload);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("Uploads took 96 % of the time, and came to 98 %"));
  EXPECT_NEAR(seen.ceiling.value().bytes_per_second, 10'200 * mebibyte, 1);
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("because the link to the device is at 98 %"));
  EXPECT_THAT(seen.advice.at(0).change, HasSubstr("half the bytes up"));
  EXPECT_NEAR(seen.advice.at(0).gain, 2, 0.01);
  run.overlap = device_use(0.96, 0.9, 0.3, 0.98);
  EXPECT_THAT(verdict().advice.at(0).change, HasSubstr("half the bytes each way"));
}

TEST_F(ARunOfOneSecond, IsBoundByDownloadsAsNearToTheirCeilingAsBothWaysAllow) {
  run.overlap.reset();
  alone.upload = 20'000;
  alone.download = 14'000;
  alone.both = 10'300;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::upload) << "both are as near, and uploads come first";
  run.bytes_up = mebibyte / 4;
  alone.upload = 50'000;
  alone.both = 4'000;
  EXPECT_EQ(verdict().bound, Bound::download);
  EXPECT_NEAR(verdict().ceiling.value().bytes_per_second, 11'500 * mebibyte / 4, 1) << "of the bytes that went up";
}

TEST_F(ARunOfOneSecond, WithTilesTooSmallForTheLinkIsToldByHowMuchToEnlargeThem) {
  run.overlap.reset();
  run.bytes_up = run.tile_bytes = 65'536;
  run.bytes_down = 0;
  run.fill = 0.1;
  run.sink = run.enqueue.emplace(0.05);
  run.lane_idle.reset();
  alone.upload = 10'200;  // 98 us a copy, of which 49 are set-up.
  alone.link_up = 65'536 / 49e-6;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::upload);
  EXPECT_EQ(seen.advice.at(0).change, "--tile 2MiB");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(1.97), 0.02) << seen.advice.at(0).why;
}

TEST_F(ARunOfOneSecond, WhoseWaysTakeFromEachOtherIsNotToldToEnlargeItsTiles) {
  run.overlap.reset();
  alone.upload = alone.download = 20'000;
  alone.both = 10'900;
  alone.link_up = alone.link_down = 20'400 * mebibyte;  // One of 92 us a copy is set-up.
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::upload);
  for (Advice const& advice : seen.advice) EXPECT_EQ(advice.change.find("--tile"), std::string::npos) << advice.why;
  alone.both = 10'200;
  alone.upload = alone.download = 12'000;  // A copy of 98 us takes 83 alone, of which 34 are set-up.
  EXPECT_EQ(verdict().advice.at(0).change, "--tile 16MiB");
  double const left = 98.0 - 34.3 * 15 / 16;
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(98.0 / left / 0.98), 0.01) << verdict().advice.at(0).why;
}

TEST_F(ARunOfOneSecond, WhoseCopiesAreSlowerThanAloneIsSentToLookAtItsMemory) {
  run.overlap = device_use(0.95, 0, 0.1, 0.96);
  run.bytes_down = 0;
  alone.upload = 25'000;
  run.gpu = true;
  EXPECT_THAT(verdict().advice.at(0).change, HasSubstr("with --bind node"));
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(2.5), 0.01);
}

TEST_F(ARunOfOneSecond, WhoseCopiesTookTenTimesAsLongAsAloneIsNotBoundByTheLink) {
  run.overlap = device_use(0.95, 0, 0.1, 0.96);
  run.bytes_down = 0;
  alone.upload = 8'000;
  alone.batched_upload = 100'000;  // The run put many at once, so this is what counts.
  run.lane_idle = 0.04;
  EXPECT_EQ(verdict().bound, Bound::completion);
}

TEST_F(ARunOfOneSecond, IsPromisedWhatLiesBetweenTheTimeOfTheNextPartAndWhatThatReachesAlone) {
  run.overlap = device_use(0.5, 0.77, 0.1, 0.9);
  run.pool = 6;
  run.slots = 1;
  run.in_flight = 2;
  run.fill = 0.1;
  run.borrow_wait = 3.9;
  alone.download = 18'000;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles);
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(std::sqrt(1.8 / 0.77)), 0.01);
  alone.download.reset();
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(1 / 0.77), 0.01);
}

TEST_F(ARunOfOneSecond, IsBoundByKernelsThatFillTheDevice) {
  run.overlap = device_use(0.2, 0.2, 0.97, 0.99);
  alone.kernel = 10'300;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::kernel);
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("kernels fill the device to 97 %"));
  EXPECT_THAT(seen.advice.at(0).change, HasSubstr("half the time"));
}

/// It is as in four streams, where kernels of one block are always at work; 16 streams come to more.
TEST_F(ARunOfOneSecond, IsOfferedMoreLanesIfItsKernelsLeaveRoomForThoseOfOthers) {
  run.overlap = device_use(0.2, 0.2, 0.99, 0.99);
  run.gpu = true;
  alone.kernel = 40'000;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::kernel);
  EXPECT_FALSE(seen.streams_will_not_help);
  EXPECT_EQ(seen.advice.at(0).change, "--lanes 4");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(2), 0.01);
  alone.kernel = 11'000;
  EXPECT_THAT(verdict().advice.at(0).change, testing::Not(HasSubstr("--lanes"))) << "they fill the device";
}

TEST_F(ARunOfOneSecond, SerialisesIfItsOnlyLaneHasOneStream) {
  run.lanes = 1;
  run.slots = 4;
  run.single_stream = true;
  run.overlap = device_use(0.3, 0.3, 0.38, 0.98);
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::serialising_stream);
  EXPECT_EQ(seen.advice.at(0).change, "--shape split");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(1 / 0.38), 0.01);
  EXPECT_EQ(seen.advice.at(1).change, "--lanes 2");
}

TEST_F(ARunOfOneSecond, SerialisesIfKernelsThatFitSideBySideHaveOneStream) {
  run.lanes = 1;
  run.overlap = device_use(0.1, 0.1, 0.95, 0.97);
  alone.kernel = 30'000;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::serialising_stream);
  EXPECT_EQ(seen.advice.at(0).change, "--lanes 2");
  EXPECT_DOUBLE_EQ(seen.advice.at(0).gain, mostly(2));
}

TEST_F(ARunOfOneSecond, SerialisesIfAStageWaitsForTheDevice) {
  run.enqueue = 1.95;
  run.meanwhile = 1.1;
  run.lane_idle = 0.02;
  run.in_flight = 4.3;
  run.overlap = device_use(0.5, 0.3, 0.6, 0.9);
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::serialising_stream);
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("a barrier"));
  EXPECT_THAT(seen.advice.at(0).change, HasSubstr("gives its work to the stream and returns"));
  EXPECT_NEAR(seen.advice.at(0).gain, 1 / 0.6, 0.01);
}

TEST_F(ARunOfOneSecond, IsBoundByADeviceInUseForNineTenthsWhoeverIsBusierOnTheHost) {
  run.fill = 3.95;
  run.borrow_wait = 0.02;
  run.overlap = device_use(0.92, 0.1, 0.3, 0.95);
  EXPECT_EQ(verdict().bound, Bound::upload) << "more producers could gain a ninth at most";
  run.overlap = device_use(0.85, 0.1, 0.3, 0.95);
  EXPECT_EQ(verdict().bound, Bound::fill);
}

TEST_F(ARunOfOneSecond, WithOneSlotPerLaneHasNoBarrierIfLanesAreBusy) {
  run.enqueue = 1.95;
  run.meanwhile = 1.1;
  run.lane_idle = 0.02;
  run.in_flight = 1.9;
  run.slots = 1;
  run.overlap = device_use(0.5, 0.3, 0.6, 0.9);
  EXPECT_EQ(verdict().bound, Bound::submission);
}
}  // namespace
}  // namespace penstock
