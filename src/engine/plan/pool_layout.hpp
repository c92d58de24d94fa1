// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/machine/topology.hpp"
#include "engine/plan/placement.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The node of each part of a pipeline's pool, its number of tiles, and what is next to it. There is a part
/// for each node that has devices. It is a single one if the node of the first device is unknown, if tiles are fewer
/// than nodes, or if the application gives its own memory in one piece.
///
/// Threads: any; it never changes.
class PoolLayout {
 public:
  /// `nodes` has the node of each device, if it is known; the options must be resolved.
  PoolLayout(std::vector<std::optional<int>> const& nodes, PipelineOptions const& options, Topology const& topology);

  std::size_t parts() const noexcept { return tiles_.size(); }
  /// Tiles of a part: in proportion to the lanes next to it, in whole batches except for the last part's.
  std::size_t tiles(std::size_t part) const { return tiles_.at(part); }
  /// Bytes that are pinned for a part: of a slab whole huge pages, of the application's own memory whole pages.
  std::size_t bytes(std::size_t part) const;
  /// Bytes that are pinned for all parts.
  std::size_t bytes() const;
  /// Memory that the tiles of a part take, in whole pages.
  std::size_t least_bytes(std::size_t part) const;
  /// The node that the part belongs to; empty: any.
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

  TileShape const shape_;
  bool const own_memory_;
  std::vector<std::optional<int>> nodes_;
  std::vector<std::size_t> part_of_device_;
  std::vector<std::size_t> tiles_;
  std::vector<std::uint16_t> part_of_cpu_;  ///< Empty with one part, where no thread need ask.
};

/// Returns the places of the threads and tiles next to each device.
std::vector<Placement> place_devices(std::vector<Device*> const& devices, PipelineOptions const& options,
                                     Topology const& topology);
/// The layout of a pool next to these devices.
PoolLayout lay_out(std::vector<Placement> const& devices, PipelineOptions const& options, Topology const& topology);

}  // namespace penstock
