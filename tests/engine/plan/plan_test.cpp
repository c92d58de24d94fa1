// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"

#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine of two nodes with four CPUs each, and a GPU on each: the first hangs on node 1, lest it is right by
/// chance.
struct APlanForTwoNodes : testing::Test {
  Topology const topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  SaysItIsAGpu first{0, 1}, second{1, 0};
  PipelineOptions wanted{.tile = {.input_bytes = 65536, .output_bytes = 65536},
                         .producers = 2,
                         .lanes = 2,
                         .consumers = 2,
                         .tuning = {.slots = 8}};

  CpuSet cpus_of(int node) const { return topology.node(node).cpus; }
};

TEST_F(APlanForTwoNodes, HasEachLaneAndPartOfThePoolNextToItsDevice) {
  Plan const both = plan(wanted, {&first, &second}, topology);
  ASSERT_EQ(both.layout.parts(), 2u);
  EXPECT_EQ(both.layout.node(0), 1);
  EXPECT_EQ(both.layout.node(1), 0);
  ASSERT_EQ(both.lanes.size(), 2u);
  EXPECT_EQ(both.lanes[0].device, &first);
  EXPECT_EQ(both.lanes[0].cpus, cpus_of(1));
  EXPECT_EQ(both.lanes[0].pool_part, 0u);
  EXPECT_EQ(both.lanes[1].device, &second);
  EXPECT_EQ(both.lanes[1].cpus, cpus_of(0));
  EXPECT_EQ(both.lanes[1].pool_part, 1u);
}

TEST_F(APlanForTwoNodes, DealsProducersOutToThePartsAndConsumersToTheFirstDevice) {
  Plan const both = plan(wanted, {&first, &second}, topology);
  ASSERT_EQ(both.producers.size(), 2u);
  EXPECT_EQ(both.producers[0].cpus, cpus_of(1));
  EXPECT_EQ(both.producers[1].cpus, cpus_of(0));
  EXPECT_EQ(both.producers[1].pool_part, 1u);
  EXPECT_THAT(both.consumers, testing::ElementsAre(cpus_of(1), cpus_of(1)));
  EXPECT_THAT(both.place_remarks, IsEmpty());
}

TEST_F(APlanForTwoNodes, CountsTheThreadsThatStayAwakeOnTheirNodes) {
  wanted.aim = Aim::latency;
  wanted.lanes = wanted.producers = wanted.consumers = 1;
  Plan const one = plan(wanted, {&first}, topology);
  EXPECT_EQ(one.awake.all, 1u) << "a lane; for a borrower and a consumer there is no room";
  EXPECT_EQ(one.awake.of_node.at(1), 1u);
  EXPECT_EQ(one.cpus, 8u);
}

TEST_F(APlanForTwoNodes, HasLanesForProducersIfThoseRunToCompletion) {
  cpu::CpuDevice device{{.compute_threads = 2}};
  PipelineOptions options{.tile = wanted.tile};
  options.tuning.run_to_completion = true;
  Plan const made = plan(options, {&device}, topology);
  ASSERT_EQ(made.producers.size(), made.lanes.size());
  EXPECT_EQ(made.producers.back().cpus, made.lanes.back().cpus);
  options.tuning.bind = Bind::cpu;
  Plan const bound = plan(options, {&device}, topology);
  EXPECT_EQ(bound.producers.back().cpus, bound.lanes.back().cpus);
  EXPECT_EQ(bound.lanes.back().cpus.size(), 1u);
}

TEST_F(APlanForTwoNodes, HasOneCpuForEachThreadOnTheNodeOfItsDeviceIfThatIsAskedFor) {
  wanted.tuning.bind = Bind::cpu;
  Plan const both = plan(wanted, {&first, &second}, topology);
  EXPECT_EQ(both.lanes[0].cpus, CpuSet({4}));
  EXPECT_EQ(both.lanes[1].cpus, CpuSet({0}));
  EXPECT_EQ(both.producers[0].cpus, CpuSet({5}));
  EXPECT_EQ(both.producers[1].cpus, CpuSet({1}));
  EXPECT_THAT(both.consumers, testing::ElementsAre(CpuSet({6}), CpuSet({7})));
  EXPECT_EQ(both.layout.parts(), 2u) << "tiles lie where they do with node";
}

/// Seen to fail where only threads are counted.
TEST_F(APlanForTwoNodes, SharesTheCpusOfLanesLast) {
  wanted.tuning.bind = Bind::cpu;
  wanted.producers = 3;
  wanted.lanes = 1;
  Plan const one = plan(wanted, {&first}, topology);
  EXPECT_EQ(one.lanes[0].cpus, CpuSet({4}));
  EXPECT_EQ(one.producers[2].cpus, CpuSet({7}));
  EXPECT_THAT(one.consumers, testing::ElementsAre(CpuSet({5}), CpuSet({6}))) << "with a producer each";
}

TEST_F(APlanForTwoNodes, HasThreadsAndTilesAnywhereIfNothingIsToBeBound) {
  wanted.tuning.bind = Bind::none;
  Plan const both = plan(wanted, {&first, &second}, topology);
  EXPECT_TRUE(both.lanes[1].cpus.empty());
  EXPECT_TRUE(both.producers[0].cpus.empty());
  EXPECT_THAT(both.consumers, testing::Each(CpuSet()));
  EXPECT_EQ(both.layout.node(0), std::nullopt);
}

TEST_F(APlanForTwoNodes, IsRefusedIfThereIsNoSuchWayToBind) {
  wanted.tuning.bind = static_cast<Bind>(77);
  try {
    static_cast<void>(plan(wanted, {&first}, topology));
    ADD_FAILURE() << "it was taken";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_STREQ(error.what(), "`bind` has a value that there is not: choose from none, node, cpu.");
  }
}

TEST_F(APlanForTwoNodes, SaysWhyItPlacesNothing) {
  SaysItIsAGpu homeless;
  EXPECT_THAT(plan(wanted, {&homeless}, topology).place_remarks, testing::Contains(HasSubstr("NUMA node is unknown")));
}

}  // namespace
}  // namespace penstock
