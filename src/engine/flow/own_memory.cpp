// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/topology.hpp"
#include "engine/plan/plan.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

std::vector<MemoryNeeded> memory_needed(DeviceGroup const& devices, PipelineOptions options) {
  options.own_memory.clear();
  Topology const topology = Topology::detect();
  PoolLayout const layout = plan(options, devices.all(), topology).layout;
  std::vector<MemoryNeeded> needed;
  for (std::size_t part = 0; part < layout.parts(); ++part) {
    needed.push_back({layout.least_bytes(part), layout.tiles(part), layout.node(part)});
  }
  return needed;
}

}  // namespace penstock
