// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/device.hpp"
#include "penstock/flow/pool_layout.hpp"
#include "penstock/machine/slab.hpp"
#include "penstock/machine/topology.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The memory of a pipeline's tiles: a slab for each part of its pool, on the part's node, pinned for all devices.
///
/// Threads: the owner's; the memory itself any.
class TileMemory {
 public:
  /// The devices outlive it.
  ///
  /// Blocks: until every page was touched and is pinned; once `stop` is requested, no more are touched.
  /// Throws: as Slab and Device::pin.
  TileMemory(PoolLayout const& layout, PipelineOptions const& options, Topology const& topology,
             std::vector<Device*> const& devices, std::stop_token const& stop);
  TileMemory(TileMemory const&) = delete;
  TileMemory& operator=(TileMemory const&) = delete;
  /// Leaves it to devices that were abandoned.
  ~TileMemory();

  /// The parts, in the form from which a pool is cut.
  std::vector<PoolPart> const& parts() const noexcept { return parts_; }
  /// The remarks of all slabs.
  std::vector<std::string> remarks() const;

 private:
  void pin(Device& device, std::vector<Pinned>& pins) const;

  std::vector<Device*> const devices_;
  std::vector<Device*> const gpus_;  ///< The GPUs among them; a lost one no longer says what it is.
  std::vector<Slab> slabs_;
  std::vector<PoolPart> parts_;
  std::vector<Pinned> pinned_for_gpus_;  ///< With the first of them, for all; none without one.
  std::vector<Pinned> pinned_for_others_;
};

}  // namespace penstock
