// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/device.hpp"
#include "penstock/machine/placed.hpp"
#include "penstock/machine/slab.hpp"
#include "penstock/machine/topology.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Which node each part of a pipeline's pool lies on, how many tiles it has, and what is next to it. There is a part
/// for each node that has devices; a single one, if the node of the first device is unknown, or tiles are fewer than
/// nodes.
///
/// Threads: any; it never changes.
class PoolLayout {
 public:
  /// `nodes` has the node of each device, if it is known; the options must be resolved.
  PoolLayout(std::vector<std::optional<int>> const& nodes, PipelineOptions const& options, Topology const& topology);

  std::size_t parts() const noexcept { return tiles_.size(); }
  /// In proportion to the lanes next to it, in whole batches but for the last part's.
  std::size_t tiles(std::size_t part) const { return tiles_.at(part); }
  /// Where it belongs; empty: anywhere.
  std::optional<int> node(std::size_t part) const { return nodes_.at(part); }
  /// The part next to the device with this number; the first part, if the node of the device is unknown.
  std::size_t part_of_device(std::size_t number) const { return part_of_device_.at(number); }
  /// The part from which the producer with this number borrows: producers take the parts in turn.
  std::size_t part_of_producer(std::size_t number) const noexcept { return number % parts(); }
  /// The part next to this CPU. Nodes without a part share the parts of the others.
  std::size_t part_of_cpu(int cpu) const noexcept;
  /// The part next to the CPU on which the calling thread is now.
  std::size_t part_here() const noexcept;

 private:
  void share_out(PipelineOptions const& options);
  void note_cpus(Topology const& topology);

  std::vector<std::optional<int>> nodes_;
  std::vector<std::size_t> part_of_device_;
  std::vector<std::size_t> tiles_;
  std::vector<std::uint16_t> part_of_cpu_;  ///< Empty with one part, where no thread need ask.
};

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
  /// Each slab, and where its pages lie.
  std::vector<PlacedMemory> placed() const;
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
