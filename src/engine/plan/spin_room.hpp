// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/machine/topology.hpp"
#include "engine/plan/placement.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Number of threads that can be busy at once: for a modelled GPU, on its machine; else on this one.
std::size_t threads_at_once(DeviceInfo const& device, Topology const& topology);
/// The request of a pipeline to be placed next to one of its devices. Of the options only those count that say how many
/// threads there are, and whether they are bound.
PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device);

/// Threads of a pipeline that stay awake though they may have nothing to do.
struct Awake {
  unsigned lanes = 0;      ///< Dealt out to the devices in turn, each bound to the node of its own, if that is known.
  unsigned borrowers = 0;  ///< Threads that wait for a tile; they may be on any node with lanes.
  unsigned consumers = 0;  ///< Consumers on the node of the first device.
};

/// The threads that resolved options keep awake.
Awake awake_of(PipelineOptions const& resolved);

/// Threads of other pipelines that stay awake, by where they may run.
struct AwakeThreads {
  unsigned all = 0;
  std::map<int, unsigned> of_node = {};  ///< Threads by the number of their NUMA node.

  void add(AwakeThreads const& more);
  /// Removes what was added before.
  void remove(AwakeThreads const& those) noexcept;
};

/// A place that has no room for the threads that are to stay awake.
struct Crowd {
  unsigned lanes = 0;  ///< Lanes there that stay awake.
  std::string place;   ///< "8 CPUs", "the 4 CPUs of NUMA node 1".
  bool of_a_node = false;
  unsigned elsewhere = 0;  ///< Threads of other pipelines that stay awake there.
};

/// Tells whether threads that stay awake leave two CPUs to everything else: of all, and of each node that lanes are
/// bound to. There they would displace each other for milliseconds, however many CPUs other nodes have.
class SpinRoom {
 public:
  SpinRoom(std::vector<Device*> const& devices, PipelineOptions const& options, Topology const& topology,
           AwakeThreads elsewhere = {});

  /// The first place where they would leave fewer; empty if there is none.
  std::optional<Crowd> crowded(Awake const& awake) const;
  /// Counts these threads for other pipelines.
  AwakeThreads taken(Awake const& awake) const;

 private:
  struct Node {
    int number = 0;
    std::size_t cpus = 0;
  };
  std::vector<unsigned> lanes_on_nodes(Awake const& awake) const;
  unsigned consumers_on(std::size_t node, Awake const& awake) const;

  std::size_t const cpus_;
  AwakeThreads const elsewhere_;
  std::vector<Node> nodes_;                                 ///< Nodes that lanes are bound to.
  std::vector<std::optional<std::size_t>> node_of_device_;  ///< Index of its node there; empty if it may run anywhere.
};

}  // namespace penstock
