// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/machine/topology.hpp"
#include "penstock/options.hpp"
#include "penstock/plan/placement.hpp"

namespace penstock {

/// How many threads can be busy at once: of a modelled GPU, on its machine; else on this one.
std::size_t threads_at_once(DeviceInfo const& device, Topology const& topology);
/// What a pipeline asks to be placed next to one of its devices. Of the options only those count that say how many
/// threads there are, and whether they are bound.
PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device);

/// Threads of a pipeline that stay awake though they may have nothing to do.
struct Awake {
  unsigned lanes = 0;      ///< Dealt out to the devices in turn, each bound to the node of its own, if that is known.
  unsigned borrowers = 0;  ///< Threads that wait for a tile; they may be on any node with lanes.
  unsigned consumers = 0;  ///< On the node of the first device.
};

/// The threads that resolved options keep awake.
Awake awake_of(PipelineOptions const& resolved);

/// Threads of other pipelines that stay awake, by where they may run.
struct AwakeThreads {
  unsigned all = 0;
  std::map<int, unsigned> of_node = {};  ///< By the number of a NUMA node.

  void add(AwakeThreads const& more);
  /// What was added before.
  void remove(AwakeThreads const& those) noexcept;
};

/// Where there is no room for them.
struct Crowd {
  unsigned lanes = 0;  ///< Of those that stay awake, the ones there.
  std::string place;   ///< "8 CPUs", "the 4 CPUs of NUMA node 1".
  bool of_a_node = false;
  unsigned elsewhere = 0;  ///< Threads of other pipelines that stay awake there.
};

/// Whether threads that stay awake leave two CPUs to everything else: of all, and of each node that lanes are bound to,
/// since there they would displace each other for milliseconds, however many CPUs other nodes have.
class SpinRoom {
 public:
  SpinRoom(std::vector<Device*> const& devices, PipelineOptions const& options, Topology const& topology,
           AwakeThreads elsewhere = {});

  /// The first place where they would leave fewer; empty if there is none.
  std::optional<Crowd> crowded(Awake const& awake) const;
  /// What these would be for other pipelines.
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
  std::vector<Node> nodes_;                                 ///< Those that lanes are bound to.
  std::vector<std::optional<std::size_t>> node_of_device_;  ///< Which of them; empty if it may run anywhere.
};

}  // namespace penstock
