// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/tile_memory.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

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
