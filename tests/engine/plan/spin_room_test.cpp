// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spin_room.hpp"

#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/plan/resolve_options.hpp"

namespace penstock {
namespace {

using std::chrono::microseconds;
using support::SaysItIsAGpu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Pipelines for latency on two nodes of as many CPUs as a test says, with two GPUs on the second and one on the first.
struct LanesOnTwoNodes : testing::Test {
  SaysItIsAGpu of_second{0, 1}, too{1, 1}, of_first{2, 0}, of_none{3};
  PipelineOptions wanted{.tile = {.input_bytes = 4096, .output_bytes = 4096}, .aim = Aim::latency};
  std::vector<std::string> remarks;

  PipelineOptions on(unsigned cpus_each, std::vector<Device*> const& devices) {
    Topology const topology = Topology::from_synthetic("numa:2 core:" + std::to_string(cpus_each) + " pu:1");
    remarks.clear();
    return resolve(wanted, devices, topology, remarks);
  }
};

/// Seen to fail if lanes are counted against all CPUs: three of these would share two CPUs with all else on their node.
TEST_F(LanesOnTwoNodes, DoNotSpinWhereTheyWouldFillANode) {
  wanted.lanes = 3;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.spin, microseconds(0));
  ASSERT_FALSE(remarks.empty());
  EXPECT_EQ(remarks[0],
            "The lanes do not spin: 3 of them would leave fewer than two of the 4 CPUs of NUMA node 1 to everything "
            "else; use fewer lanes.");
  EXPECT_EQ(on(5, {&of_second, &too}).tuning.spin, Tuning::for_ever);
  wanted.lanes = 2;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.spin, Tuning::for_ever);
}

TEST_F(LanesOnTwoNodes, AreCountedOnEachNode) {
  wanted.lanes = 6;
  EXPECT_EQ(on(5, {&of_first, &of_second}).tuning.spin, Tuning::for_ever) << "three on each";
  EXPECT_EQ(on(5, {&of_first, &of_second, &too}).tuning.spin, microseconds(0)) << "two, and four";
  EXPECT_THAT(remarks.at(0), HasSubstr("4 of them would leave fewer than two of the 5 CPUs of NUMA node 1"));
}

/// Seen to fail if only lanes are counted on a node: the consumer is bound to that of the first device.
TEST_F(LanesOnTwoNodes, LeaveRoomForWhoWatches) {
  EXPECT_EQ(on(5, {&of_second}).tuning.borrow_spin, Tuning::for_ever);
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_EQ(on(4, {&of_second}).tuning.borrow_spin, microseconds(0));
  EXPECT_THAT(remarks, ElementsAre("No thread watches for tiles: that would leave fewer than two of the 4 CPUs of NUMA "
                                   "node 1 to everything else, since 1 lane spins there as well; use fewer lanes."));
  wanted.tuning.sink_on_lanes = true;
  EXPECT_EQ(on(4, {&of_second}).tuning.borrow_spin, Tuning::for_ever) << "there is no consumer";
}

TEST_F(LanesOnTwoNodes, LeaveRoomForAConsumerOnTheFirstNodeAlone) {
  wanted.lanes = 3;
  EXPECT_EQ(on(5, {&of_first, &of_second, &too}).tuning.borrow_spin, Tuning::for_ever)
      << "a lane, a producer and the consumer; two lanes and a producer";
  EXPECT_EQ(on(5, {&of_second, &too, &of_first}).tuning.borrow_spin, microseconds(0))
      << "two lanes, a producer and the consumer; a lane and a producer";
}

TEST_F(LanesOnTwoNodes, AreCountedAgainstAllCpusWhereTheyMayRunAnywhere) {
  wanted.lanes = 3;
  EXPECT_EQ(on(4, {&of_none}).tuning.spin, Tuning::for_ever) << "its node is not known";
  wanted.tuning.bind = Bind::none;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.spin, Tuning::for_ever);
  wanted.lanes = 7;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.spin, microseconds(0));
  EXPECT_THAT(remarks.at(0), HasSubstr("7 of them would leave fewer than two of 8 CPUs to everything else"));
}

TEST_F(LanesOnTwoNodes, SayNothingOfANodeWhereTheyWouldFillTheMachine) {
  wanted.tuning.bind = Bind::none;
  wanted.lanes = 5;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.borrow_spin, microseconds(0));
  EXPECT_THAT(remarks,
              ElementsAre("No thread watches for tiles: that would leave fewer than two of 8 CPUs to everything "
                          "else, since 5 lanes spin as well; use fewer lanes."));
}

TEST_F(LanesOnTwoNodes, SayNothingOfAWatchThatWasDeclined) {
  wanted.tuning.borrow_spin = microseconds(0);
  EXPECT_EQ(on(4, {&of_second}).tuning.borrow_spin, microseconds(0));
  EXPECT_THAT(remarks, IsEmpty());
}

TEST_F(LanesOnTwoNodes, SayNothingOfASpinThatNobodyAskedFor) {
  wanted.aim = Aim::throughput;
  wanted.lanes = 3;
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.spin, microseconds(0));
  EXPECT_EQ(on(4, {&of_second, &too}).tuning.borrow_spin, microseconds(20)) << "of the lanes none is awake";
  EXPECT_THAT(remarks, IsEmpty());
}

}  // namespace
}  // namespace penstock
