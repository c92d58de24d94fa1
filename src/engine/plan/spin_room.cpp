// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spin_room.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/plan/placement.hpp"

namespace penstock {
namespace {

/// CPUs for the driver's threads, the application's, and any others.
constexpr std::size_t left_to_others = 2;

}  // namespace

std::size_t threads_at_once(DeviceInfo const& device, Topology const& topology) {
  return device.host_cpus > 0 ? device.host_cpus : topology.busy_threads();
}

PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device) {
  PlacementRequest request{.lanes = options.lanes, .producers = options.producers, .consumers = options.consumers};
  if (device.kind == DeviceKind::cuda || device.numa_node) {
    request.device = (device.kind == DeviceKind::cuda ? "GPU " : "CPU device ") + std::to_string(device.ordinal);
  }
  request.device_node = device.numa_node;
  if (device.modelled) request.cpus = device.host_cpus;
  request.bind = options.tuning.bind != Bind::none;
  return request;
}

Awake awake_of(PipelineOptions const& resolved) {
  bool const watch = resolved.tuning.borrow_spin && resolved.tuning.borrow_spin->count() > 0;
  return {.lanes = resolved.tuning.spin && resolved.tuning.spin->count() > 0 ? resolved.lanes : 0,
          .borrowers = watch ? 1U : 0U,
          .consumers = watch && enters_graph(resolved) ? 1U : 0U};
}

SpinRoom::SpinRoom(std::vector<Device*> const& devices, PipelineOptions const& options, Topology const& topology,
                   AwakeThreads elsewhere)
    : cpus_(threads_at_once(devices.front()->info(), topology)), elsewhere_(std::move(elsewhere)) {
  PipelineOptions without_threads;  // The numbers asked for are not checked yet, and the node is the same.
  without_threads.tuning.bind = options.tuning.bind;
  for (Device* const device : devices) {
    DeviceInfo const info = device->info();
    // The nodes here are not those of the machine that a model stands for.
    auto const number =
        info.modelled ? std::nullopt : Placement(topology, placement_request(without_threads, info)).tile_node();
    auto const same = [&](Node const& node) { return node.number == number; };
    auto found = std::find_if(nodes_.begin(), nodes_.end(), same);
    if (number && found == nodes_.end()) {
      found = nodes_.insert(found, {*number, topology.node(*number).cpus.size()});
    }
    node_of_device_.push_back(number ? std::optional(static_cast<std::size_t>(found - nodes_.begin())) : std::nullopt);
  }
}

std::vector<unsigned> SpinRoom::lanes_on_nodes(Awake const& awake) const {
  std::vector<unsigned> lanes(nodes_.size(), 0);
  for (std::size_t lane = 0; lane < awake.lanes; ++lane) {
    if (auto const node = node_of_device_[lane % node_of_device_.size()]) ++lanes[*node];
  }
  return lanes;
}

unsigned SpinRoom::consumers_on(std::size_t node, Awake const& awake) const {
  return node_of_device_.front() == node ? awake.consumers : 0;
}

std::optional<Crowd> SpinRoom::crowded(Awake const& awake) const {
  if (awake.lanes + awake.borrowers + awake.consumers + elsewhere_.all + left_to_others > cpus_) {
    return Crowd{awake.lanes, std::to_string(cpus_) + " CPUs", false, elsewhere_.all};
  }
  auto const lanes = lanes_on_nodes(awake);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto const other = elsewhere_.of_node.find(nodes_[node].number);
    unsigned const elsewhere = other == elsewhere_.of_node.end() ? 0 : other->second;
    unsigned const own = lanes[node] + awake.borrowers + consumers_on(node, awake);
    if (own + elsewhere + left_to_others <= nodes_[node].cpus) continue;
    return Crowd{
        lanes[node],
        "the " + std::to_string(nodes_[node].cpus) + " CPUs of NUMA node " + std::to_string(nodes_[node].number), true,
        elsewhere};
  }
  return std::nullopt;
}

AwakeThreads SpinRoom::taken(Awake const& awake) const {
  AwakeThreads threads{.all = awake.lanes + awake.borrowers + awake.consumers};
  auto const lanes = lanes_on_nodes(awake);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    threads.of_node[nodes_[node].number] = lanes[node] + awake.borrowers + consumers_on(node, awake);
  }
  return threads;
}

void AwakeThreads::add(AwakeThreads const& more) {
  // All or nothing: memory may run out while nodes are added.
  for (auto const& [node, threads] : more.of_node) of_node.try_emplace(node, 0);
  for (auto const& [node, threads] : more.of_node) of_node.find(node)->second += threads;
  all += more.all;
}

void AwakeThreads::remove(AwakeThreads const& those) noexcept {
  for (auto const& [node, threads] : those.of_node) of_node.find(node)->second -= threads;
  all -= those.all;
}

}  // namespace penstock
