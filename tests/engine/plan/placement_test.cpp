// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/machine/fake_system.hpp"

namespace penstock {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two nodes of four CPUs each.
struct PlacementOnTwoNodes : testing::Test {
  Topology topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  CpuSet const node_0{0, 1, 2, 3};
  CpuSet const node_1{4, 5, 6, 7};
  CpuSet const all{0, 1, 2, 3, 4, 5, 6, 7};
};

TEST_F(PlacementOnTwoNodes, PutsEverythingOnTheGpusNode) {
  Placement const placement(topology,
                            {.lanes = 2, .producers = 2, .consumers = 1, .device = "GPU 0", .device_node = 1});
  EXPECT_EQ(placement.lane(0), node_1);
  EXPECT_EQ(placement.lane(1), node_1);
  EXPECT_EQ(placement.producer(1), node_1);
  EXPECT_EQ(placement.consumer(0), node_1);
  EXPECT_EQ(placement.tile_node(), 1);
  EXPECT_THAT(placement.remarks(), IsEmpty());
}

TEST_F(PlacementOnTwoNodes, DealsProducersOutToAllNodesWithTiles) {
  Placement const placement(
      topology, {.lanes = 4, .producers = 100, .consumers = 1, .device = "GPU 0", .device_node = 1, .more_nodes = {0}});
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(placement.producer(i), i % 2 == 0 ? node_1 : node_0) << i;
  EXPECT_EQ(placement.tile_node(), 1);
  EXPECT_THAT(placement.remarks(), testing::ElementsAre("105 threads share 8 CPUs."));
}

TEST_F(PlacementOnTwoNodes, CountsTheCpusOfTheMachineThatIsModelled) {
  PlacementRequest request{.lanes = 1, .producers = 14, .consumers = 1, .device = "", .device_node = {}, .cpus = 16};
  EXPECT_THAT(Placement(topology, request).remarks(), testing::Not(Contains(HasSubstr("share"))));
  request.producers = 15;
  EXPECT_THAT(Placement(topology, request).remarks(), Contains("17 threads share 16 CPUs."));
}

TEST_F(PlacementOnTwoNodes, SendsProducersElsewhereOnceTheTilesNodeIsFull) {
  Placement const placement(topology,
                            {.lanes = 1, .producers = 5, .consumers = 1, .device = "GPU 0", .device_node = 0});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(placement.producer(i), node_0) << i;
  for (std::size_t i = 3; i < 5; ++i) EXPECT_EQ(placement.producer(i), node_1) << i;
  EXPECT_THAT(placement.remarks(), Contains(HasSubstr("2 of 5 producers fill tiles from other nodes")));
}

TEST_F(PlacementOnTwoNodes, SharesTheNearNodeAmongProducersBeyondEveryCpu) {
  Placement const placement(topology,
                            {.lanes = 1, .producers = 100, .consumers = 1, .device = "GPU 0", .device_node = 0});
  std::size_t far = 0;
  for (std::size_t i = 0; i < 100; ++i) far += placement.producer(i) == node_1 ? 1u : 0u;
  EXPECT_EQ(far, 4u);
  EXPECT_EQ(placement.producer(99), node_0);
  EXPECT_THAT(placement.remarks(), Contains("102 threads share 8 CPUs."));
}

TEST_F(PlacementOnTwoNodes, KeepsTheFirstProducerNearEvenWhenLanesFillTheNode) {
  Placement const placement(topology,
                            {.lanes = 9, .producers = 2, .consumers = 1, .device = "GPU 0", .device_node = 0});
  EXPECT_EQ(placement.producer(0), node_0);
  EXPECT_EQ(placement.producer(1), node_1);
}

TEST_F(PlacementOnTwoNodes, UsesEveryNodeWhenTheGpusIsUnknown) {
  Placement const placement(
      topology, {.lanes = 2, .producers = 2, .consumers = 1, .device = "GPU 3", .device_node = std::nullopt});
  EXPECT_EQ(placement.lane(0), all);
  EXPECT_EQ(placement.producer(0), all);
  EXPECT_EQ(placement.tile_node(), std::nullopt);
  EXPECT_THAT(placement.remarks(), Contains(HasSubstr("GPU 3's NUMA node is unknown (normal in virtual machines)")));
}

TEST_F(PlacementOnTwoNodes, UsesEveryNodeForADeviceThatHangsOnNone) {
  Placement const placement(topology, {.lanes = 1, .producers = 1, .consumers = 1});
  EXPECT_EQ(placement.lane(0), all);
  EXPECT_THAT(placement.remarks(), Contains(HasSubstr("hangs on no NUMA node")));
}

TEST_F(PlacementOnTwoNodes, UsesEveryNodeWhenTheGpusIsForbidden) {
  Placement const placement(topology,
                            {.lanes = 1, .producers = 1, .consumers = 1, .device = "GPU 0", .device_node = 7});
  EXPECT_EQ(placement.lane(0), all);
  EXPECT_EQ(placement.tile_node(), std::nullopt);
  EXPECT_THAT(placement.remarks(),
              Contains(HasSubstr("GPU 0 hangs on NUMA node 7, where this process may use no CPU")));
}

TEST_F(PlacementOnTwoNodes, BindsNothingWhenToldNotTo) {
  Placement const placement(
      topology, {.lanes = 1, .producers = 1, .consumers = 1, .device = "GPU 0", .device_node = 1, .bind = false});
  EXPECT_THAT(placement.lane(0), IsEmpty());
  EXPECT_THAT(placement.producer(0), IsEmpty());
  EXPECT_THAT(placement.consumer(0), IsEmpty());
  EXPECT_EQ(placement.tile_node(), std::nullopt);
  EXPECT_THAT(placement.remarks(), Contains(HasSubstr("Binding is off")));
}

TEST_F(PlacementOnTwoNodes, HasAnAnswerForThreadsThatNobodyAnnounced) {
  Placement const placement(topology,
                            {.lanes = 1, .producers = 0, .consumers = 0, .device = "GPU 0", .device_node = 1});
  EXPECT_EQ(placement.lane(5), node_1);
  EXPECT_THAT(placement.producer(0), IsEmpty());
}

TEST(Placement, SpreadsProducersThatFindNoRoomOverAllOtherNodes) {
  auto const topology = Topology::from_synthetic("numa:8 core:2 pu:1");
  Placement const placement(topology,
                            {.lanes = 1, .producers = 8, .consumers = 1, .device = "GPU 0", .device_node = 3});
  EXPECT_EQ(placement.producer(0), topology.node(3).cpus);
  for (int const other : {0, 1, 2, 4, 5, 6, 7}) {
    std::size_t on_it = 0;
    for (std::size_t i = 0; i < 8; ++i) on_it += placement.producer(i) == topology.node(other).cpus ? 1u : 0u;
    EXPECT_EQ(on_it, 1u) << "node " << other;
  }
}

TEST(Placement, SpreadsProducersThatFindNoRoomNextToTilesOverNodesWithoutAny) {
  auto const topology = Topology::from_synthetic("numa:4 core:2 pu:1");
  Placement const placement(
      topology, {.lanes = 2, .producers = 5, .consumers = 1, .device = "GPU 0", .device_node = 3, .more_nodes = {1}});
  std::vector<CpuSet> places;
  for (std::size_t i = 0; i < 5; ++i) places.push_back(placement.producer(i));
  auto const node = [&](int number) { return topology.node(number).cpus; };
  EXPECT_THAT(places, testing::ElementsAre(node(3), node(1), node(0), node(2), node(0)));
  EXPECT_THAT(placement.remarks(), testing::ElementsAre("3 of 5 producers fill tiles from other nodes, because nodes 3 "
                                                        "and 1 have only 4 CPUs for 2 lanes and them."));
}

TEST(Placement, SaysThatThereIsNothingToPlaceOnOneNode) {
  auto const topology = Topology::from_synthetic("numa:1 core:2 pu:1");
  Placement const placement(
      topology, {.lanes = 2, .producers = 7, .consumers = 1, .device = "GPU 0", .device_node = std::nullopt});
  EXPECT_THAT(placement.remarks(),
              testing::UnorderedElementsAre("One NUMA node: nothing to place.", "10 threads share 2 CPUs."));
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(placement.producer(i), (CpuSet{0, 1})) << "two share one CPU";
  EXPECT_EQ(placement.tile_node(), 0);
}

TEST(Placement, SaysWhenTheCgroupAllowsLessTimeThanThereAreCpus) {
  FakeSystem const system;
  system.write("proc/self/cgroup", "0::/\n");
  system.write("sys/fs/cgroup/cpu.max", "25000 100000\n");
  Placement const placement(Topology::detect(system.root()), {});
  EXPECT_THAT(placement.remarks(), Contains(HasSubstr("The cgroup allows the time of 0.25 of")));
}

}  // namespace
}  // namespace penstock
