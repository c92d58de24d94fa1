// SPDX-License-Identifier: Apache-2.0
// Experiment: copies from memory of each NUMA node.
#include <chrono>
#include <optional>
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

Observation copy_from_each_node(Workbench& bench) {
  Stream const stream = bench.device().make_stream();
  DeviceMemory const there = bench.device().allocate(copied);
  std::optional<int> const own = bench.device().info().numa_node;
  std::vector<NodeCopies> seen;
  Topology const topology = Topology::detect();
  for (NumaNode const& node : topology.nodes()) {
    if (node.memory_bytes == 0 && !seen.empty()) continue;
    PinnedMemory const here(bench.device(), copied, node);
    stream.upload(there.bytes(), here.bytes());  // The first copy does not count, since it touches memory.
    stream.synchronize();
    NodeCopies& of_node = seen.emplace_back();
    of_node.node = node.number;
    if (own) of_node.near = node.number == *own;
    std::size_t const before = bench.pieces();
    bench.timed("node " + std::to_string(node.number), "up", stream, [&] {
      for (int i = 0; i < copies; ++i) stream.upload(there.bytes(), here.bytes());
    });
    bench.timed("node " + std::to_string(node.number), "down", stream, [&] {
      for (int i = 0; i < copies; ++i) stream.download(here.bytes(), there.bytes());
    });
    stream.synchronize();
    auto const all = bench.intervals();
    auto const rate = [&](std::size_t piece) {
      return static_cast<double>(copies) * copied / std::chrono::duration<double>(all[piece].length()).count();
    };
    of_node.up = rate(before);
    of_node.down = rate(before + 1);
  }
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
          "Pin memory on the node of its device, as penstock does with tiles. A model may state its node "
          "(numa_node) and what copies of other nodes reach (far_gb_s); penstock's models state neither.",
      .claim = Claim::may,
      .run = copy_from_each_node};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
