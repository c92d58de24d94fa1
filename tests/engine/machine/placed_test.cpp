// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/placed.hpp"

#include <array>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// Two nodes of four CPUs each, on which threads and slabs came to lie as a test says.
struct PlacedOnTwoNodes : testing::Test {
  static constexpr std::size_t mebi = std::size_t{1} << 20;
  Topology const topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  CpuSet const node_0{0, 1, 2, 3};
  CpuSet const node_1{4, 5, 6, 7};
  CpuSet const all{0, 1, 2, 3, 4, 5, 6, 7};
  static PlacedMemory slab(std::size_t bytes, std::map<int, std::size_t> const& pages_on_node, std::size_t absent = 0) {
    PlacedMemory some{bytes, {.sampled = absent, .pages_on_node = pages_on_node, .absent = absent, .refusal = {}}};
    for (auto const& [node, pages] : pages_on_node) some.pages.sampled += pages;
    return some;
  }
  std::string text(std::vector<PlacedThreads> const& threads, std::vector<PlacedMemory> const& memory) const {
    return placed_text(topology, threads, memory);
  }
};

TEST_F(PlacedOnTwoNodes, AreToldByTheCpusThatThreadsShare) {
  EXPECT_EQ(text({{"producer", {node_0, node_0, node_1}}, {"lane", {node_0}}, {"consumer", {{}}}},
                 {slab(40 * mebi, {{0, 256}})}),
            "Threads: 2 producers, 1 lane on CPUs 0-3 (node 0); 1 producer on CPUs 4-7 (node 1); 1 consumer not bound. "
            "Pages: 40 MiB on node 0, by move_pages(2) of 256 pages.");
}

TEST_F(PlacedOnTwoNodes, AreToldWithoutANodeWhereThereIsNotOne) {
  EXPECT_EQ(text({{"lane", {all, all}}, {"consumer", {{2, 5}}}}, {slab(mebi, {{1, 1}})}),
            "Threads: 2 lanes on CPUs 0-7 (every node); 1 consumer on CPUs 2,5. Pages: 1 MiB on node 1, by "
            "move_pages(2) of 1 page.");
}

TEST_F(PlacedOnTwoNodes, LeaveOutAKindWithoutThreads) {
  EXPECT_EQ(text({{"producer", {}}, {"lane", {node_1}}}, {slab(mebi, {{1, 2}})}),
            "Threads: 1 lane on CPUs 4-7 (node 1). Pages: 1 MiB on node 1, by move_pages(2) of 2 pages.");
}

TEST_F(PlacedOnTwoNodes, HaveTheBytesOfAllSlabsByNode) {
  EXPECT_EQ(text({{"lane", {node_0}}}, {slab(8 * mebi, {{0, 64}, {1, 192}}), slab(4 * mebi, {{1, 64}}, 192)}),
            "Threads: 1 lane on CPUs 0-3 (node 0). Pages: 2 MiB on node 0, 7 MiB on node 1, 3 MiB without memory, by "
            "move_pages(2) of 512 pages.");
}

TEST_F(PlacedOnTwoNodes, SayWhyNothingIsKnownOfPages) {
  PlacedMemory silent = slab(2 * mebi, {}, 256);
  silent.pages.refusal = "The system does not say.";
  EXPECT_EQ(text({{"lane", {node_0}}}, {slab(mebi, {{0, 256}}), silent}),
            "Threads: 1 lane on CPUs 0-3 (node 0). Pages: 3 MiB. The system does not say.");
}

}  // namespace
}  // namespace penstock
