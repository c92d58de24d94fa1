// SPDX-License-Identifier: Apache-2.0
// Memory of devices in which the results of tiles stay while the program has the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/device_tile.hpp"
#include "penstock/penstock.h"
#include "penstock/pipeline.hpp"
#include "penstock/stages.hpp"
#include "penstock/stream.hpp"
#include "penstock/tile.hpp"

namespace penstock::c {

/// Places of one device: one for each tile of a pool, in its order, so that results of neighbours are neighbours.
class PlacesOnDevice {
 public:
  /// Blocks, Throws: as Device::allocate, and Device::make_event.
  PlacesOnDevice(Device& device, std::size_t tiles, std::size_t bytes);

  /// The tile with its place as output. Later work of the stream waits until all who have the earlier result passed.
  ///
  /// Threads: the lane that has the tile.
  DeviceTile begin(DeviceTile const& tile, StreamRef stream);
  /// Throws: Error of kind program, if the result has more bytes than the place.
  void finish(DeviceTile const& tile, std::size_t bytes);

  Device& device() const noexcept { return device_; }
  penstock_device_bytes of(std::uint32_t index, bool done) const noexcept;
  /// Notes that the tile's result is used by what was put into this stream so far.
  void used_in(std::uint32_t index, void* stream);

 private:
  struct Place {
    Event event;
    bool in_use = false;  ///< The event was recorded since the last `begin`.
    std::size_t filled = 0;
  };

  Device& device_;
  bool const on_gpu_;
  std::int32_t const ordinal_;
  std::size_t const bytes_;
  DeviceMemory memory_;
  std::vector<Place> places_;
};

/// Places of all devices of a pipeline.
///
/// Threads: any; for one tile, who has it.
class DevicePlaces {
 public:
  /// Shape:  `tiles` places of `bytes` on each device.
  /// Blocks, Throws: as PlacesOnDevice.
  DevicePlaces(DeviceGroup const& devices, std::size_t tiles, std::size_t bytes);

  /// Stages that write their results into places, and bring nothing back. This object must outlive their runs.
  Stages keep(Stages stages);
  /// Stages whose result is the first input.
  Stages keep_inputs();

  /// The sink, behind a note of each tile's end.
  Sink told(Sink sink);
  /// Notes how a tile ended: only one that is done has a result.
  void completed(Tile const& tile, Outcome outcome) noexcept;

  /// Place of the result of a completed tile.
  penstock_device_bytes of(Tile const& tile) const noexcept;
  void used_in(Tile const& tile, void* stream);
  PlacesOnDevice& on(Device const& device);
  std::size_t bytes() const noexcept { return bytes_; }
  /// Notes which device has the tile's result.
  void set_device_of(std::uint32_t tile, PlacesOnDevice& on) noexcept { device_of_[tile] = &on; }

 private:
  std::size_t const bytes_;
  std::vector<std::unique_ptr<PlacesOnDevice>> all_;
  std::vector<PlacesOnDevice*> device_of_;  ///< By the index of the tile; null if it has no result.
};

}  // namespace penstock::c
