// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/spin_room.hpp"

#include <algorithm>

#include "penstock/flow/placement_request.hpp"
#include "penstock/machine/placement.hpp"

namespace penstock {
namespace {

/// For the driver's threads, the application's, and whoever else there is.
constexpr std::size_t left_to_others = 2;

}  // namespace

SpinRoom::SpinRoom(std::vector<Device*> const& devices, PipelineOptions const& options, Topology const& topology)
    : cpus_(topology.busy_threads()) {
  PipelineOptions without_threads;  // What they are asked to be has not been checked yet, and the node is the same.
  without_threads.bind = options.bind;
  for (Device* const device : devices) {
    auto const number = Placement(topology, placement_request(without_threads, device->info())).tile_node();
    auto const same = [&](Node const& node) { return node.number == number; };
    auto found = std::find_if(nodes_.begin(), nodes_.end(), same);
    if (number && found == nodes_.end()) {
      found = nodes_.insert(found, {*number, topology.node(*number).cpus.size()});
    }
    node_of_device_.push_back(number ? std::optional(static_cast<std::size_t>(found - nodes_.begin())) : std::nullopt);
  }
}

std::optional<Crowd> SpinRoom::crowded(Awake const& awake) const {
  if (awake.lanes + awake.borrowers + awake.consumers + left_to_others > cpus_) {
    return Crowd{awake.lanes, std::to_string(cpus_) + " CPUs", false};
  }
  std::vector<unsigned> lanes(nodes_.size(), 0);
  for (std::size_t lane = 0; lane < awake.lanes; ++lane) {
    if (auto const node = node_of_device_[lane % node_of_device_.size()]) ++lanes[*node];
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    unsigned const consumers = node_of_device_.front() == node ? awake.consumers : 0;
    if (lanes[node] + awake.borrowers + consumers + left_to_others <= nodes_[node].cpus) continue;
    return Crowd{
        lanes[node],
        "the " + std::to_string(nodes_[node].cpus) + " CPUs of NUMA node " + std::to_string(nodes_[node].number), true};
  }
  return std::nullopt;
}

}  // namespace penstock
