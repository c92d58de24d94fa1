// SPDX-License-Identifier: Apache-2.0
// Experiment: copies from memory of each NUMA node.
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "engine/machine/topology.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t copied = std::size_t{8} << 20;
constexpr int copies = 8;

/// Copies memory of one node up and down.
NodeCopies copy_some(Workbench& bench, int node, PinnedMemory const& here) {
  Stream const stream = bench.device().make_stream();
  DeviceMemory const there = bench.device().allocate(copied);
  stream.upload(there.bytes(), here.bytes());  // The first copy does not count, since it touches memory.
  stream.synchronize();
  std::string const row = "node " + std::to_string(node);
  std::size_t const before = bench.pieces();
  bench.hold(std::span(&stream, 1));
  bench.timed(row, "up", stream, [&] {
    for (int i = 0; i < copies; ++i) stream.upload(there.bytes(), here.bytes());
  });
  bench.timed(row, "down", stream, [&] {
    for (int i = 0; i < copies; ++i) stream.download(here.bytes(), there.bytes());
  });
  stream.synchronize();
  auto const all = bench.intervals();
  auto const rate = [&](std::size_t piece) {
    return static_cast<double>(copies) * copied / std::chrono::duration<double>(all[piece].length()).count();
  };
  return {.node = node, .up = rate(before), .down = rate(before + 1)};
}

/// The nodes of this machine, or those of a modelled one, whose device is on node 0.
std::vector<NodeCopies> copy_from_nodes(Workbench& bench) {
  DeviceInfo const info = bench.device().info();
  std::vector<NodeCopies> seen;
  for (unsigned node = 0; node < info.host_nodes; ++node) {
    PinnedMemory const here(bench.device(), copied);
    bench.device().place(here.bytes(), static_cast<int>(node));
    seen.push_back(copy_some(bench, static_cast<int>(node), here));
    seen.back().near = node == 0;
  }
  if (!seen.empty()) return seen;
  Topology const topology = Topology::detect();
  for (NumaNode const& node : topology.nodes()) {
    if (node.memory_bytes == 0 && !seen.empty()) continue;
    seen.push_back(copy_some(bench, node.number, PinnedMemory(bench.device(), copied, node)));
    if (info.numa_node) seen.back().near = node.number == *info.numa_node;
  }
  return seen;
}

Observation copy_from_each_node(Workbench& bench) {
  std::vector<NodeCopies> const seen = copy_from_nodes(bench);
  std::vector<Figure> figures;
  for (NodeCopies const& one : seen) {
    std::string const what = "memory of node " + std::to_string(one.node);
    figures.push_back({what + ", up", one.up / 1e9, "GB/s"});
    figures.push_back({what + ", down", one.down / 1e9, "GB/s"});
  }
  return {bench.intervals(), std::move(figures), verdict_on_nodes(seen)};
}

}  // namespace

Experiment numa() {
  return {
      .name = "numa",
      .expectation = "Copies of memory on the device's own NUMA node are as fast as those of another node, or faster.",
      .why =
          "Pin memory on the node of its device, as penstock does with tiles. A model may be of a machine with several "
          "nodes, as model:p100 is; else they are those of this machine.",
      .claim = Claim::may,
      .run = copy_from_each_node};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
