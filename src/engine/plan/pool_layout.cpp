// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/pool_layout.hpp"

#include <algorithm>

#include <sched.h>

#include "engine/core/pool.hpp"
#include "engine/machine/mapped_memory.hpp"
#include "engine/machine/slab.hpp"
#include "engine/plan/spin_room.hpp"

namespace penstock {

PoolLayout::PoolLayout(std::vector<std::optional<int>> const& nodes, PipelineOptions const& options,
                       Topology const& topology)
    : shape_(options.tile),
      own_memory_(!options.own_memory.empty()),
      nodes_{nodes.front()},
      part_of_device_(nodes.size(), 0) {
  if (nodes.front()) {
    for (auto const& node : nodes) {
      if (node && std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
    }
  }
  if (nodes_.size() > options.tuning.tiles || options.own_memory.size() == 1) nodes_.resize(1);
  for (std::size_t number = 0; number < nodes.size(); ++number) {
    auto const found = std::find(nodes_.begin(), nodes_.end(), nodes[number]);
    if (found != nodes_.end()) part_of_device_[number] = static_cast<std::size_t>(found - nodes_.begin());
  }
  share_out(options);
  if (parts() > 1) note_cpus(topology);
}

void PoolLayout::share_out(PipelineOptions const& options) {
  std::vector<std::size_t> lanes(nodes_.size(), 0);
  for (std::size_t lane = 0; lane < options.lanes; ++lane) ++lanes[part_of_device_[lane % part_of_device_.size()]];
  // Each lane has two batches at least, so there is one for each part; where there is not, batches are of one tile.
  std::size_t const batch =
      options.tuning.tiles < nodes_.size() * options.tuning.batch ? 1 : std::max(1U, options.tuning.batch);
  std::size_t begin = 0, lanes_before = 0;
  for (std::size_t part = 0; part + 1 < nodes_.size(); ++part) {
    lanes_before += lanes[part];
    std::size_t const later = nodes_.size() - part - 1;
    std::size_t const end = options.tuning.tiles * lanes_before / std::max(1U, options.lanes) / batch * batch;
    tiles_.push_back(std::clamp(end, begin + batch, options.tuning.tiles - later * batch) - begin);
    begin += tiles_.back();
  }
  tiles_.push_back(options.tuning.tiles - begin);
}

void PoolLayout::note_cpus(Topology const& topology) {
  std::size_t others = 0;
  for (NumaNode const& node : topology.nodes()) {
    auto const found = std::find(nodes_.begin(), nodes_.end(), std::optional(node.number));
    std::size_t const part =
        found != nodes_.end() ? static_cast<std::size_t>(found - nodes_.begin()) : others++ % parts();
    for (int const cpu : node.cpus) {
      part_of_cpu_.resize(std::max(part_of_cpu_.size(), static_cast<std::size_t>(cpu) + 1), 0);
      part_of_cpu_[static_cast<std::size_t>(cpu)] = static_cast<std::uint16_t>(part);
    }
  }
}

std::size_t PoolLayout::part_of_cpu(int cpu) const noexcept {
  return cpu >= 0 && static_cast<std::size_t>(cpu) < part_of_cpu_.size() ? part_of_cpu_[static_cast<std::size_t>(cpu)]
                                                                         : 0;
}

std::size_t PoolLayout::part_here() const noexcept {
  return part_of_cpu_.empty() ? 0 : part_of_cpu(sched_getcpu());
}

std::size_t PoolLayout::least_bytes(std::size_t part) const {
  // Parts may lie side by side, but not their tiles: no copy may take two pinned regions for one.
  std::size_t const apart = parts() > 1 ? Pool::alignment : 0;
  return in_whole_pages(Pool::slab_bytes(shape_, tiles(part)) + apart);
}

std::size_t PoolLayout::bytes(std::size_t part) const {
  std::size_t const least = least_bytes(part);
  return own_memory_ ? least : (least + Slab::alignment - 1) / Slab::alignment * Slab::alignment;
}

std::size_t PoolLayout::bytes() const {
  std::size_t sum = 0;
  for (std::size_t part = 0; part < parts(); ++part) sum += bytes(part);
  return sum;
}

std::vector<Placement> place_devices(std::vector<Device*> const& devices, PipelineOptions const& options,
                                     Topology const& topology) {
  std::vector<Placement> placements;
  placements.reserve(devices.size());
  for (Device* const device : devices) placements.emplace_back(topology, placement_request(options, device->info()));
  return placements;
}

PoolLayout lay_out(std::vector<Placement> const& devices, PipelineOptions const& options, Topology const& topology) {
  std::vector<std::optional<int>> nodes;
  nodes.reserve(devices.size());
  for (Placement const& device : devices) nodes.push_back(device.tile_node());
  return {nodes, options, topology};
}

}  // namespace penstock
