// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement.hpp"

#include <algorithm>
#include <iterator>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Two decimals at most: "1.5", "2", "0.25".
std::string decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find('.') + 3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// "node 0", "nodes 0, 2 and 3".
std::string nodes_text(std::vector<int> const& numbers) {
  std::string text = numbers.size() == 1 ? "node " : "nodes ";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 < numbers.size() ? ", " : " and ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

}  // namespace

Placement::Placement(Topology const& topology, PlacementRequest const& request)
    : lanes_(request.lanes), producers_(request.producers), consumers_(request.consumers) {
  remark_crowding(topology, request);
  if (!request.bind) {
    remarks_.emplace_back("Binding is off: threads run and tiles lie where the system puts them.");
    return;
  }
  NumaNode const* const device_node = find_device_node(topology, request);
  CpuSet const& near = device_node != nullptr ? device_node->cpus : topology.cpus();
  std::fill(lanes_.begin(), lanes_.end(), near);
  std::fill(producers_.begin(), producers_.end(), near);
  std::fill(consumers_.begin(), consumers_.end(), near);
  if (device_node != nullptr) {
    tile_nodes_ = {device_node->number};
    tile_nodes_.insert(tile_nodes_.end(), request.more_nodes.begin(), request.more_nodes.end());
    place_producers(topology, request);
  }
}

NumaNode const* Placement::find_device_node(Topology const& topology, PlacementRequest const& request) {
  auto const& nodes = topology.nodes();
  if (nodes.size() == 1) {
    remarks_.emplace_back("One NUMA node: nothing to place.");
    return nodes.front().cpus.empty() ? nullptr : &nodes.front();
  }
  if (request.device.empty()) {
    remarks_.emplace_back("The device hangs on no NUMA node: threads use every node.");
    return nullptr;
  }
  if (!request.device_node) {
    remarks_.push_back(request.device +
                       "'s NUMA node is unknown (normal in virtual machines): threads and tiles use every node.");
    return nullptr;
  }
  auto const device_node = std::find_if(nodes.begin(), nodes.end(), [&](NumaNode const& node) {
    return node.number == *request.device_node && !node.cpus.empty();
  });
  if (device_node != nodes.end()) return &*device_node;
  remarks_.push_back(
      request.device + " hangs on NUMA node " + std::to_string(*request.device_node) +
      ", where this process may use no CPU: threads and tiles use every node. Widen the cpuset or taskset "
      "to that node.");
  return nullptr;
}

void Placement::place_producers(Topology const& topology, PlacementRequest const& request) {
  std::vector<CpuSet> near;
  std::size_t cpus_near = 0;
  for (int const number : tile_nodes_) {
    near.push_back(topology.node(number).cpus);
    cpus_near += near.back().size();
  }
  // Lanes are busy too. One CPU is left for producers all the same: the first of them must sit next to the tiles.
  std::size_t const free_near = std::max(cpus_near - std::min(cpus_near, request.lanes), near.size());
  auto const holds_tiles = [&](NumaNode const& node) {
    return std::find(tile_nodes_.begin(), tile_nodes_.end(), node.number) != tile_nodes_.end();
  };
  std::vector<CpuSet> far;
  for (std::size_t seat = 0, seated = 1; seated != 0; ++seat) {
    // Each pass takes one CPU of each other node, so that no far node is full while another is idle.
    seated = 0;
    for (auto const& node : topology.nodes()) {
      if (holds_tiles(node) || node.cpus.size() <= seat) continue;
      far.push_back(node.cpus);
      ++seated;
    }
  }
  // Producers beyond every CPU of the machine share the near ones.
  for (std::size_t i = 0; i < producers_.size(); ++i) producers_[i] = near[i % near.size()];
  std::size_t const inside = std::min(producers_.size(), free_near);
  std::size_t const outside = std::min(far.size(), producers_.size() - inside);
  std::copy_n(far.begin(), outside, producers_.begin() + static_cast<std::ptrdiff_t>(inside));
  if (outside == 0) return;
  remarks_.push_back(std::to_string(outside) + " of " + count_text(producers_.size(), "producer") +
                     " fill tiles from other nodes, because " + nodes_text(tile_nodes_) +
                     (near.size() == 1 ? " has" : " have") + " only " + count_text(cpus_near, "CPU") + " for " +
                     count_text(request.lanes, "lane") + " and them.");
}

void Placement::remark_crowding(Topology const& topology, PlacementRequest const& request) {
  std::size_t const threads = request.lanes + request.producers + request.consumers;
  std::size_t const cpus = request.cpus > 0 ? request.cpus : topology.cpus().size();
  if (threads > cpus) remarks_.push_back(count_text(threads, "thread") + " share " + count_text(cpus, "CPU") + '.');
  if (request.cpus > 0) return;  // The machine's own quota does not matter then.
  if (auto const quota = topology.cpu_quota(); quota && *quota < static_cast<double>(topology.cpus().size())) {
    remarks_.push_back("The cgroup allows the time of " + decimal(*quota) + " of " +
                       count_text(topology.cpus().size(), "CPU") +
                       ": raise its CPU quota if lanes or producers starve.");
  }
}

CpuSet const& Placement::at(std::vector<CpuSet> const& sets, std::size_t number) noexcept {
  static CpuSet const anywhere;
  return sets.empty() ? anywhere : sets[number % sets.size()];
}

}  // namespace penstock
