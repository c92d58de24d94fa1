// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>

#include "support/child_of_fork.hpp"
#include "support/cpu_device_under_test.hpp"
#include "support/gate.hpp"

#include "engine/cpu/cpu_device.hpp"
#include "engine/graph/lanes_in_graph_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, LanesInGraphContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);

/// Seen to fail where the child waited for the tile on its copy of the lanes.
TEST(AChildOfForkWithLanesInAGraph, EndsAndLeavesThemToItsParent) {
  cpu::CpuDevice device({.compute_threads = 1});
  support::Gate gate;
  std::atomic<std::size_t> delivered{0};
  auto const stage = on_device([&](DeviceTile const&, StreamRef) { gate.pass(); });
  LanesInGraph lanes(
      device, {.tile = {.input_bytes = 64}, .lanes = 1, .tuning = {.tiles = 2}}, stage,
      [&](TileGroup const& group) { delivered += group.size(); }, [](TileGroup const&) { return true; });
  {
    TileGroup group = lanes.borrow({});
    lanes.submit(group);
    EXPECT_EQ(support::exit_code_of_child_that_destroys(lanes, group, device), 7);
    gate.open();
  }
  EXPECT_TRUE(lanes.finish().ok());
  EXPECT_EQ(delivered, 1U);
}

}  // namespace
}  // namespace penstock
