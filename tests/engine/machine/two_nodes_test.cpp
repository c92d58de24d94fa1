// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/machine/bound_thread.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/slab.hpp"

namespace penstock {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

/// This machine, if it has two nodes with CPUs; tests/engine/machine/two_nodes emulates one that has.
struct TwoNodes : testing::Test {
  Topology topology = Topology::detect();
  std::vector<NumaNode> nodes;
  void SetUp() override {
    for (auto const& node : topology.nodes()) {
      if (!node.cpus.empty()) nodes.push_back(node);
    }
    if (nodes.size() < 2) GTEST_SKIP() << "this machine has " << topology.describe();
  }
};

TEST_F(TwoNodes, KeepThreadsThatAreBoundToThem) {
  for (auto const& node : nodes) {
    CpuSet allowed;
    std::vector<unsigned> seen;
    BoundThread thread("ps-test", node.cpus, [&](std::stop_token const&) {
      allowed = affinity_of_this_thread();
      for (int i = 0; i < 100; ++i) {
        unsigned cpu = 0, number = 0;
        syscall(SYS_getcpu, &cpu, &number, nullptr);
        seen.push_back(number);
        std::this_thread::yield();
      }
    });
    thread.join();
    EXPECT_EQ(thread.binding_error(), std::nullopt);
    EXPECT_EQ(allowed, node.cpus);
    EXPECT_THAT(seen, testing::Each(static_cast<unsigned>(node.number)));
  }
}

TEST_F(TwoNodes, HoldTheSlabsMeantForThem) {
  for (auto const& node : nodes) {
    Slab const slab(32 * mebi, node, 2);
    auto const residency = slab.residency();
    ASSERT_EQ(residency.refusal, std::nullopt);
    EXPECT_EQ(slab.on_node(), 1.0) << "meant for node " << node.number << ": " << residency.describe();
  }
}

TEST_F(TwoNodes, AreToldApartWhenASlabLiesOnTheWrongOne) {
  NumaNode const mistaken{.number = nodes[0].number, .cpus = nodes[1].cpus, .memory_bytes = 0};
  Slab const slab(32 * mebi, mistaken, 2);
  EXPECT_EQ(slab.on_node(), 0.0);
  EXPECT_EQ(slab.residency().fraction_on(nodes[1].number), 1.0) << slab.residency().describe();
  EXPECT_THAT(slab.remarks(), testing::Contains(testing::HasSubstr("256 of 256 sampled pages on node " +
                                                                   std::to_string(nodes[1].number))));
}

}  // namespace
}  // namespace penstock
