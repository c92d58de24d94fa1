// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/tile_memory.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <sched.h>

#include "penstock/core/pool.hpp"

namespace penstock {
namespace {

Slab make_slab(PoolLayout const& layout, std::size_t part, PipelineOptions const& options, Topology const& topology,
               std::stop_token const& stop) {
  std::optional<NumaNode> node;
  if (layout.node(part)) node = topology.node(*layout.node(part));
  // Slabs may lie side by side, but not their tiles: no copy may take two pinned regions for one.
  std::size_t const apart = layout.parts() > 1 ? Pool::alignment : 0;
  std::size_t const bytes = Pool::slab_bytes(options.tile, layout.tiles(part)) + apart;
  // Whole huge pages: only whole pages can be pinned.
  std::size_t const pages = std::max<std::size_t>(1, (bytes + Slab::alignment - 1) / Slab::alignment);
  return Slab(pages * Slab::alignment, node,
              std::min<std::size_t>(topology.busy_threads(), Slab::default_touch_threads), stop);
}

std::vector<Device*> gpus_among(std::vector<Device*> const& devices) {
  std::vector<Device*> gpus;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(gpus),
               [](Device* device) { return device->info().kind == DeviceKind::cuda; });
  return gpus;
}

bool is_among(std::vector<Device*> const& devices, Device* device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

}  // namespace

PoolLayout::PoolLayout(std::vector<std::optional<int>> const& nodes, PipelineOptions const& options,
                       Topology const& topology)
    : nodes_{nodes.front()}, part_of_device_(nodes.size(), 0) {
  if (nodes.front()) {
    for (auto const& node : nodes) {
      if (node && std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
    }
  }
  if (nodes_.size() > options.tuning.tiles) nodes_.resize(1);
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

TileMemory::TileMemory(PoolLayout const& layout, PipelineOptions const& options, Topology const& topology,
                       std::vector<Device*> const& devices, std::stop_token const& stop)
    : devices_(devices), gpus_(gpus_among(devices)) {
  for (std::size_t part = 0; part < layout.parts(); ++part) {
    slabs_.push_back(make_slab(layout, part, options, topology, stop));
    parts_.push_back({slabs_.back().bytes(), layout.tiles(part)});
  }
  if (!gpus_.empty()) pin(*gpus_.front(), pinned_for_gpus_);
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    bool const seen = std::find(devices.begin(), device, *device) != device;
    if (!seen && !is_among(gpus_, *device)) pin(**device, pinned_for_others_);
  }
}

void TileMemory::pin(Device& device, std::vector<Pinned>& pins) const {
  for (Slab const& slab : slabs_) pins.push_back(device.pin(slab.bytes()));
}

TileMemory::~TileMemory() {
  struct Pins {
    std::shared_ptr<std::vector<Slab>> of;  // It dies after them.
    std::vector<Pinned> pinned;
  };
  std::shared_ptr<std::vector<Slab>> left;
  std::shared_ptr<Pins> pins;
  for (Device* const device : devices_) {
    if (!device->abandoned()) continue;
    if (left == nullptr) left = std::make_shared<std::vector<Slab>>(std::move(slabs_));
    if (!is_among(gpus_, device)) {
      device->keep(left);
      continue;
    }
    // To unpin would wait for the kernel that no thread waits for any more, whichever GPU pinned.
    if (pins == nullptr) pins = std::make_shared<Pins>(Pins{left, std::move(pinned_for_gpus_)});
    device->keep(pins);
  }
}

std::vector<PlacedMemory> TileMemory::placed() const {
  std::vector<PlacedMemory> all;
  for (Slab const& slab : slabs_) all.push_back({slab.bytes().size(), slab.found()});
  return all;
}

std::vector<std::string> TileMemory::remarks() const {
  std::vector<std::string> all;
  for (Slab const& slab : slabs_) {
    for (std::string const& remark : slab.remarks()) {
      if (std::find(all.begin(), all.end(), remark) == all.end()) all.push_back(remark);
    }
  }
  return all;
}

}  // namespace penstock
