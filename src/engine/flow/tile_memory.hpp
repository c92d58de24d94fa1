// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/machine/placed.hpp"
#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"
#include "engine/plan/pool_layout.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The memory of a pipeline's tiles, pinned for all devices: a slab for each part of its pool, on the part's node, or
/// what the application gives for it.
///
/// Threads: the owner's; the memory itself any.
class TileMemory {
 public:
  /// The devices outlive it, and so does the application's own memory.
  ///
  /// Shape:  options that are resolved, and their layout: each part has room in the application's memory.
  /// Blocks: until every page was touched and is pinned; once `stop` is requested, no more are touched.
  /// Throws: as Slab, make_present and Device::pin.
  TileMemory(PoolLayout const& layout, PipelineOptions const& options, Topology const& topology,
             std::vector<Device*> const& devices, std::stop_token const& stop);
  TileMemory(TileMemory const&) = delete;
  TileMemory& operator=(TileMemory const&) = delete;
  /// Leaves it to devices that were abandoned; of the application's own memory, only the pins of GPUs.
  ~TileMemory();

  /// The parts, in the form from which a pool is cut.
  std::vector<PoolPart> const& parts() const noexcept { return parts_; }
  /// The pinned memory of each part, and where its pages lie.
  std::vector<PlacedMemory> const& placed() const noexcept { return placed_; }
  std::size_t bytes() const noexcept;
  /// The remarks of all slabs, and what the application must know of memory of its own.
  std::vector<std::string> remarks() const;

 private:
  std::span<std::byte> add_slab(PoolLayout const& layout, std::size_t part, Topology const& topology,
                                std::stop_token const& stop);
  std::span<std::byte> add_own(std::span<std::byte> memory, std::stop_token const& stop);
  void pin(Device& device, std::vector<Pinned>& pins) const;

  std::vector<Device*> const devices_;
  std::vector<Device*> const gpus_;  ///< The GPUs among them; a lost one no longer says what it is.
  std::vector<Slab> slabs_;          ///< Empty with the application's own memory.
  std::vector<PoolPart> parts_;
  std::vector<PlacedMemory> placed_;
  std::vector<Pinned> pinned_for_gpus_;  ///< Pinned with the first of them, for all; none without one.
  std::vector<Pinned> pinned_for_others_;
};

}  // namespace penstock
