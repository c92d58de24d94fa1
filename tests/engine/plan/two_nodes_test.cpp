// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include "engine/machine/bound_thread.hpp"
#include "engine/machine/slab.hpp"
#include "engine/plan/placement.hpp"

namespace penstock {
namespace {

/// This machine, if it has two nodes with CPUs; tests/engine/machine/two_nodes emulates one that has.
struct PlanOnTwoNodes : testing::Test {
  static constexpr std::size_t mebi = std::size_t{1} << 20;
  Topology topology = Topology::detect();
  std::vector<NumaNode> nodes;
  void SetUp() override {
    for (auto const& node : topology.nodes()) {
      if (!node.cpus.empty()) nodes.push_back(node);
    }
    if (nodes.size() < 2) GTEST_SKIP() << "this machine has " << topology.describe();
  }
};

TEST_F(PlanOnTwoNodes, GivesLanesAndTilesToTheNodeOfTheirGpu) {
  for (auto const& node : nodes) {
    Placement const placement(
        topology, {.lanes = 1, .producers = 1, .consumers = 1, .device = "GPU 0", .device_node = node.number});
    ASSERT_EQ(placement.tile_node(), node.number);
    int ran_on = -1;
    BoundThread lane("ps-lane-0", placement.lane(0), [&](std::stop_token const&) { ran_on = sched_getcpu(); });
    lane.join();
    EXPECT_EQ(topology.node_of_cpu(ran_on), node.number);
    EXPECT_EQ(Slab(8 * mebi, topology.node(*placement.tile_node())).on_node(), 1.0);
  }
}

}  // namespace
}  // namespace penstock
