// SPDX-License-Identifier: Apache-2.0
#include "penstock/own_memory.hpp"

#include <string>
#include <utility>

#include "penstock/machine/topology.hpp"
#include "penstock/plan/pool_layout.hpp"
#include "penstock/plan/resolve_options.hpp"

namespace penstock {

std::vector<MemoryNeeded> memory_needed(DeviceGroup const& devices, PipelineOptions options) {
  options.own_memory.clear();
  Topology const topology = Topology::detect();
  std::vector<std::string> remarks;
  PipelineOptions const resolved = resolve(std::move(options), devices.all(), topology, remarks);
  PoolLayout const layout = lay_out(place_devices(devices.all(), resolved, topology), resolved, topology);
  std::vector<MemoryNeeded> needed;
  for (std::size_t part = 0; part < layout.parts(); ++part) {
    needed.push_back({layout.least_bytes(part), layout.tiles(part), layout.node(part)});
  }
  return needed;
}

}  // namespace penstock
