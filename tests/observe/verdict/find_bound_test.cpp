// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/find_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/verdict/a_run_of_one_second.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A run whose limit streams will not help, and why.
struct StreamsWillNotHelp : ARunOfOneSecond {
  WhyNoStreams why() const { return verdict().streams_will_not_help.value(); }
  /// 64 KiB up only, as fast as such copies go: 15.3 us each.
  void send_small_tiles() {
    run.overlap.reset();
    run.tiles = 64'000;
    run.bytes_up = run.tile_bytes = 65'536;
    run.bytes_down = 0;
    alone.upload = 65'536;
  }
};

TEST_F(StreamsWillNotHelp, IfKernelsReachWhatTheyReachAlone) {
  run.overlap = device_use(0.2, 0.2, 0.97, 0.99);
  alone.kernel = 10'300;
  EXPECT_EQ(why().reason, NoStreams::kernels_fill_device);
}

/// Parts take turns there, so the busiest is the bound however little of the time it takes.
TEST_F(StreamsWillNotHelp, NorIsAnythingToBeTriedWhereLanesRunToCompletion) {
  run.overlap = device_use(0, 0, 0.3, 0.3);
  run.to_completion = true;
  run.producers = run.lanes;
  run.fill = 0.1 * run.lanes;
  run.lane_idle.reset();
  run.enqueue.reset();
  EXPECT_EQ(verdict().bound, Bound::kernel);
  EXPECT_TRUE(verdict().advice.empty());
}

TEST_F(StreamsWillNotHelp, AsFarAsOneKnowsOnlyIfKernelsWereMeasuredAlone) {
  run.overlap = device_use(0.2, 0.2, 0.97, 0.99);
  EXPECT_EQ(verdict().bound, Bound::kernel);
  EXPECT_FALSE(verdict().streams_will_not_help) << "kernels of one block may leave room for others";
  alone.kernel = 12'600;
  EXPECT_FALSE(verdict().streams_will_not_help) << "there is room";
}

TEST_F(StreamsWillNotHelp, IfLargeCopiesFillTheLink) {
  run.overlap = device_use(0.5, 0.93, 0.3, 0.98);
  alone.download = 10'200;
  alone.link_down = 11'000 * mebibyte;
  EXPECT_EQ(why().reason, NoStreams::link_full);
  EXPECT_THAT(why().sentence, HasSubstr("the link from the device is at 98 % of what such copies reach alone, and at "
                                        "91 % of what large ones do"));
}

TEST_F(StreamsWillNotHelp, IfCopiesAreMostlySetUpAndThenTheLinkIsNotCalledFull) {
  send_small_tiles();
  alone.link_up = 4.0 * 65'536 * 65'536;  // Bytes move for a quarter of the time.
  EXPECT_EQ(verdict().bound, Bound::upload);
  EXPECT_EQ(why().reason, NoStreams::work_too_small);
  EXPECT_THAT(why().sentence, HasSubstr("tiles of 64 KiB are too small: of the 15.3 us that one takes up, 11.4 us are "
                                        "set-up"));
  alone.link_up = 1.5 * 65'536 * 65'536;
  EXPECT_EQ(why().reason, NoStreams::link_full) << "two thirds of the time";
}

TEST_F(StreamsWillNotHelp, OfUnknownUseIfCopiesAreSlowForAnotherReasonThanSetUp) {
  send_small_tiles();
  run.overlap = device_use(0.96, 0, 0.1, 0.97);
  alone.upload = 2 * 65'536;
  alone.link_up = 3.0 * 65'536 * 65'536;
  EXPECT_EQ(verdict().bound, Bound::upload);
  EXPECT_FALSE(verdict().streams_will_not_help) << "a third of the link, of which a third of the time is set-up";
}

TEST_F(StreamsWillNotHelp, IfBothWaysTakeFromEachOtherAndThatIsNoSetUp) {
  run.overlap.reset();
  alone.upload = alone.download = 25'000;
  alone.both = 10'200;
  alone.link_up = alone.link_down = 26'000 * mebibyte;
  EXPECT_EQ(verdict().bound, Bound::upload);
  EXPECT_FALSE(verdict().streams_will_not_help) << "nearly all of 40 us move bytes";
}

TEST_F(StreamsWillNotHelp, IfTheHostIsTheBound) {
  run.sink = 0.97;
  EXPECT_EQ(why().reason, NoStreams::host);
  run.sink = 0.1;
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  EXPECT_EQ(why().reason, NoStreams::host);
  run.fill = 1;
  EXPECT_EQ(verdict().bound, Bound::source_waits);
  EXPECT_EQ(why().reason, NoStreams::host);
}

TEST_F(StreamsWillNotHelp, IfLanesAreBusyWithTilesThatAreTooSmall) {
  run.bytes_up = run.bytes_down = run.tile_bytes = 4096;
  run.tiles = 200'000;
  run.enqueue = 1.9;
  run.lane_idle = 0.02;
  run.in_flight = 7;
  EXPECT_EQ(why().reason, NoStreams::work_too_small);
  EXPECT_THAT(why().sentence, HasSubstr("busy with one for 9.9 us, the device's longest step takes 1.5 us"));
  run.enqueue = 0.3;
  EXPECT_EQ(verdict().bound, Bound::completion);
  EXPECT_EQ(why().reason, NoStreams::work_too_small) << "taking them back is as much a tile's set-up";
}

TEST_F(StreamsWillNotHelp, AndTilesThatAreLargeAreNotCalledTooSmallIfLanesAreBusy) {
  run.enqueue = 1.9;
  run.lane_idle = 0.02;
  run.in_flight = 7;
  EXPECT_EQ(verdict().bound, Bound::submission);
  EXPECT_EQ(why().reason, NoStreams::host);
  EXPECT_THAT(why().sentence, HasSubstr("lanes are at 99 %"));
}

TEST_F(StreamsWillNotHelp, IfALaneTakesLongerForASmallTileThanEachStepOfTheDevice) {
  run.bytes_up = run.bytes_down = run.tile_bytes = 65'536;
  run.lanes = 1;
  run.enqueue = 0.85;
  run.lane_idle = 0.12;
  run.overlap = device_use(0.8, 0.6, 0.3, 0.9);
  EXPECT_EQ(verdict().bound, Bound::submission);
  EXPECT_EQ(why().reason, NoStreams::work_too_small) << "170 us of the device, but none of its steps takes 88 us";
}

TEST_F(StreamsWillNotHelp, IfAStageWaitsForTheDevice) {
  run.enqueue = 1.95;
  run.meanwhile = 1.1;
  run.lane_idle = 0.02;
  run.in_flight = 4.3;
  run.overlap = device_use(0.5, 0.3, 0.6, 0.9);
  EXPECT_EQ(why().reason, NoStreams::barrier);
}

TEST_F(StreamsWillNotHelp, IfALaneHasTwoTilesOnTheDeviceOfWhichItHasNotHeardThatOneIsDone) {
  run.lanes = 1;
  run.enqueue = 0.98;
  run.meanwhile = 0.95;
  run.lane_idle = 0.01;
  run.in_flight = 2.1;
  run.notice = 1.08;
  run.overlap = device_use(0.02, 0.01, 0.96, 0.98);
  EXPECT_EQ(why().reason, NoStreams::barrier) << "though kernels are in use 96 % of the time";
  run.in_flight = 3.1;
  EXPECT_FALSE(verdict().streams_will_not_help) << "a lane that waits has no third tile";
  run.in_flight = 2.1;
  run.meanwhile = 0.45;
  EXPECT_FALSE(verdict().streams_will_not_help) << "the lane did other things than to wait";
}

TEST_F(StreamsWillNotHelp, IfLanesThatOnlyGiveItWorkKeepASlowDeviceFromOverlap) {
  run.bytes_up = run.bytes_down = run.tile_bytes = 4096;
  run.lanes = 1;
  run.enqueue = 0.85;
  run.meanwhile = 0.3;
  run.lane_idle = 0.03;
  run.overlap = device_use(0.33, 0.21, 0.31, 0.82);
  EXPECT_EQ(verdict().bound, Bound::submission);
  EXPECT_EQ(why().reason, NoStreams::work_too_small);
  run.meanwhile.reset();
  EXPECT_EQ(verdict().bound, Bound::serialising_stream) << "it is not known whether lanes wait";
  run.meanwhile = 0.3;
  run.lane_idle = 0.15;
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
}

TEST_F(StreamsWillNotHelp, IfWorkOfSeveralStreamsTakesTurns) {
  run.overlap = device_use(0.4, 0.3, 0.25, 0.94);
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
  EXPECT_EQ(why().reason, NoStreams::barrier);
  EXPECT_THAT(why().sentence, HasSubstr("already takes turns"));
  run.in_flight = 1.1;
  EXPECT_FALSE(verdict().streams_will_not_help) << "there was hardly a second tile to take turns with";
}

TEST_F(StreamsWillNotHelp, ButTheyDoIfAllWorkHasOneStreamOrThereAreTooFewTiles) {
  run.in_flight = 7.6;
  EXPECT_FALSE(verdict().streams_will_not_help);
  run.lanes = 1;
  run.single_stream = true;
  run.overlap = device_use(0.3, 0.3, 0.38, 0.98);
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
  EXPECT_FALSE(verdict().streams_will_not_help);
}

}  // namespace
}  // namespace penstock
