// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/topology.hpp"

namespace penstock {

/// The threads of a pipeline that are to be placed, and its device.
struct PlacementRequest {
  // Each request names these.
  std::size_t lanes;
  std::size_t producers;
  std::size_t consumers;
  std::string device = {};              ///< "GPU 0"; empty for a device that hangs on no node, like the CPU device.
  std::optional<int> device_node = {};  ///< The node that the device hangs on, if the system says.
  std::vector<int> more_nodes = {};     ///< Other nodes with tiles, next to other devices; only nodes with usable CPUs.
  std::size_t cpus = 0;  ///< CPUs of the machine that the threads are for, if it is modelled; 0: this one.
  bool bind = true;      ///< False: no thread is bound and no tile placed.
};

/// The CPUs that each thread of a pipeline gets, and the nodes that its tiles get.
///
/// Tiles and lanes go to the device's node, producers and consumers next to the tiles. Where tiles lie on several
/// nodes, producers are dealt out to these in turn, from the device's on. Producers for which these nodes have no CPU
/// left go to others: a far CPU of their own fills faster than a near one that they share.
///
/// A thread is given all usable CPUs of its node, not one: only leaving the node is costly. Within it the scheduler
/// knows better which CPU is idle, because the driver's, oneTBB's and the application's threads run there too. A
/// thread tied to one CPU waits while any of them uses it. So two busy threads never share one CPU while another is
/// idle.
///
/// Threads: any; it never changes.
class Placement {
 public:
  Placement(Topology const& topology, PlacementRequest const& request);

  /// The CPUs of the lane with this number, counted from 0; empty: do not bind it. Numbers beyond what was requested
  /// wrap around.
  CpuSet const& lane(std::size_t number) const noexcept { return at(lanes_, number); }
  CpuSet const& producer(std::size_t number) const noexcept { return at(producers_, number); }
  CpuSet const& consumer(std::size_t number) const noexcept { return at(consumers_, number); }
  /// The node where the tiles next to this device belong; empty: anywhere.
  std::optional<int> tile_node() const noexcept {
    return tile_nodes_.empty() ? std::nullopt : std::optional(tile_nodes_.front());
  }

  /// Sentences on what stands in the way of a better placement, or makes it needless.
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }

 private:
  static CpuSet const& at(std::vector<CpuSet> const& sets, std::size_t number) noexcept;
  /// The device's node, if it is known and has CPUs that this process may use; else remarks why not.
  NumaNode const* find_device_node(Topology const& topology, PlacementRequest const& request);
  void place_producers(Topology const& topology, PlacementRequest const& request);
  void remark_crowding(Topology const& topology, PlacementRequest const& request);

  std::vector<CpuSet> lanes_;
  std::vector<CpuSet> producers_;
  std::vector<CpuSet> consumers_;
  std::vector<int> tile_nodes_;
  std::vector<std::string> remarks_;
};

}  // namespace penstock
