// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/tile_memory.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "engine/core/pool.hpp"
#include "engine/machine/mapped_memory.hpp"

namespace penstock {
namespace {

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
    auto const memory = options.own_memory.empty() ? add_slab(layout, part, topology, stop)
                                                   : add_own(options.own_memory[part].first(layout.bytes(part)), stop);
    parts_.push_back({memory, layout.tiles(part)});
  }
  if (!gpus_.empty()) pin(*gpus_.front(), pinned_for_gpus_);
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    bool const seen = std::find(devices.begin(), device, *device) != device;
    if (!seen && !is_among(gpus_, *device)) pin(**device, pinned_for_others_);
  }
}

std::span<std::byte> TileMemory::add_slab(PoolLayout const& layout, std::size_t part, Topology const& topology,
                                          std::stop_token const& stop) {
  std::optional<NumaNode> node;
  if (layout.node(part)) node = topology.node(*layout.node(part));
  Slab const& slab = slabs_.emplace_back(
      layout.bytes(part), node, std::min<std::size_t>(topology.busy_threads(), Slab::default_touch_threads), stop);
  placed_.push_back({slab.bytes().size(), slab.found()});
  return slab.bytes();
}

std::span<std::byte> TileMemory::add_own(std::span<std::byte> memory, std::stop_token const& stop) {
  make_present(memory, stop);
  constexpr std::size_t samples = 256;  // Same as for a slab.
  placed_.push_back({memory.size(), Residency::of(memory, samples)});
  return memory;
}

void TileMemory::pin(Device& device, std::vector<Pinned>& pins) const {
  for (PoolPart const& part : parts_) pins.push_back(device.pin(part.slab));
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

std::size_t TileMemory::bytes() const noexcept {
  std::size_t sum = 0;
  for (PlacedMemory const& some : placed_) sum += some.bytes;
  return sum;
}

std::vector<std::string> TileMemory::remarks() const {
  std::vector<std::string> all;
  bool const abandoned = std::any_of(devices_.begin(), devices_.end(), [](Device* one) { return one->abandoned(); });
  if (slabs_.empty() && abandoned) {
    all.emplace_back(
        "A device that was given up may still write to the application's own memory, of which the tiles are: keep it "
        "mapped, and use it for nothing else, until that device is gone; a GPU is gone when the process ends.");
  }
  for (Slab const& slab : slabs_) {
    for (std::string const& remark : slab.remarks()) {
      if (std::find(all.begin(), all.end(), remark) == all.end()) all.push_back(remark);
    }
  }
  return all;
}

}  // namespace penstock
