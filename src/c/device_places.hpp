// SPDX-License-Identifier: Apache-2.0
// Memory of devices in which the results of tiles stay while the program has the tiles.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
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

/// What lies in the places.
enum class ResultKind : std::uint8_t {
  of_stage,
  input_by_one_copy,  ///< The first input, copied from memory of the host: the pipeline's transport is mapped.
  input_by_slot,      ///< The first input, copied from a slot of a lane.
};
/// Inputs of so many bytes go by slots, since a lane brings them there while it copies earlier ones to their places: at
/// 1 MiB by 15 % faster on an H200 (python/bench). Smaller ones need fewer calls without.
inline constexpr std::size_t least_bytes_by_slots = std::size_t{256} << 10;

/// Places of one device, twice as many as tiles. They are lent in the order of their addresses, so that results of
/// tiles that follow each other lie side by side, for as long as few tiles are kept.
///
/// Invariant: a place is lent until its tile begins again, since the program has given the tile back by then.
class PlacesOnDevice {
 public:
  /// Blocks, Throws: as Device::allocate, and Device::make_event.
  PlacesOnDevice(Device& device, std::size_t tiles, std::size_t bytes);

  /// The tile with a place as output. Later work of the stream waits until all who use what is there have passed.
  /// `waited` is what the stream has waited for last in this batch, null at first.
  ///
  /// Threads: the lane that has the tile.
  DeviceTile begin(DeviceTile const& tile, StreamRef stream, void const*& waited);
  /// Throws: Error of kind program, if the result has more bytes than the place.
  void finish(DeviceTile const& tile, std::size_t bytes);

  Device& device() const noexcept { return device_; }
  penstock_device_bytes of(std::uint32_t index, bool done) const noexcept;
  /// Notes that the results of these tiles are used by what was put into this stream so far.
  ///
  /// Throws: Error of kind bad_argument, if one is used in too many streams.
  void used_in(std::span<std::uint32_t const> indices, void* stream);

 private:
  /// A place in a stream behind which some results are not used there any more.
  struct Use {
    explicit Use(Event made) : event(std::move(made)) {}
    Event event;
    std::atomic<std::size_t> places = 0;  ///< Those that are not written again before it has passed.
  };
  static constexpr std::size_t most_uses = 16;
  struct Place {
    std::array<Use*, most_uses> uses = {};
    std::size_t use_count = 0;
    std::size_t filled = 0;
    bool lent = false;
  };
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  std::uint32_t lend(std::uint32_t tile);
  Use& free_use();

  Device& device_;
  bool const on_gpu_;
  std::int32_t const ordinal_;
  std::size_t const bytes_;
  DeviceMemory memory_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> place_of_;  ///< By the index of the tile.
  std::mutex mutex_;                     ///< Guards what follows, and which places are lent.
  std::size_t next_ = 0;                 ///< Where the next place is looked for.
  std::vector<std::unique_ptr<Use>> uses_;
  std::vector<Use*> free_;
};

/// Places of all devices of a pipeline.
///
/// Threads: any; for one tile, who has it.
class DevicePlaces {
 public:
  /// Shape:  `tiles` places of `bytes` on each device.
  /// Blocks, Throws: as PlacesOnDevice.
  DevicePlaces(DeviceGroup const& devices, std::size_t tiles, std::size_t bytes, ResultKind kind);

  /// Stages that write their results into places, and bring nothing back. This object must outlive their runs.
  ///
  /// Throws: Error of kind bad_argument, if results are inputs.
  Stages keep(Stages const& stages);
  /// Stages that bring the first inputs to their places. Only if results are inputs.
  Stages keep_inputs();

  /// The sink, behind a note of each tile's end.
  Sink told(Sink sink);
  /// Notes how a tile ended: only one that is done has a result.
  void completed(Tile const& tile, Outcome outcome) noexcept;

  /// Place of the result of a completed tile.
  penstock_device_bytes of(Tile const& tile) const noexcept;
  void used_in(std::span<Tile const* const> tiles, void* stream);
  PlacesOnDevice& on(Device const& device);
  std::size_t bytes() const noexcept { return bytes_; }
  bool are_inputs() const noexcept { return kind_ != ResultKind::of_stage; }
  /// Notes which device has the tile's result.
  void set_device_of(std::uint32_t tile, PlacesOnDevice& on) noexcept { device_of_[tile] = &on; }

 private:
  std::size_t const bytes_;
  ResultKind const kind_;
  std::vector<std::unique_ptr<PlacesOnDevice>> all_;
  std::vector<PlacesOnDevice*> device_of_;  ///< By the index of the tile; null if it has no result.
};

}  // namespace penstock::c
