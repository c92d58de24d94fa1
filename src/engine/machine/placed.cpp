// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/placed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

std::string where(CpuSet const& cpus, Topology const& topology) {
  if (cpus.empty()) return "not bound";
  std::string text = "on CPUs " + cpus.text();
  auto const& nodes = topology.nodes();
  auto const node = std::find_if(nodes.begin(), nodes.end(), [&](NumaNode const& n) { return n.cpus == cpus; });
  if (node != nodes.end()) return text + " (node " + std::to_string(node->number) + ')';
  return cpus == topology.cpus() ? text + " (every node)" : text;
}

/// "2 producers, 1 lane", in which a kind without threads is left out.
std::string threads_at(CpuSet const& cpus, std::span<PlacedThreads const> threads) {
  std::string text;
  for (PlacedThreads const& some : threads) {
    auto const number = std::count(some.cpus.begin(), some.cpus.end(), cpus);
    if (number == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(number) + ' ' + some.kind + (number == 1 ? "" : "s");
  }
  return text;
}

std::string threads_text(Topology const& topology, std::span<PlacedThreads const> threads) {
  std::vector<CpuSet> seen;
  std::string text;
  for (PlacedThreads const& some : threads) {
    for (CpuSet const& cpus : some.cpus) {
      if (std::find(seen.begin(), seen.end(), cpus) != seen.end()) continue;
      seen.push_back(cpus);
      text += (text.empty() ? "" : "; ") + threads_at(cpus, threads) + ' ' + where(cpus, topology);
    }
  }
  return text;
}

std::string pages_text(std::span<PlacedMemory const> memory) {
  std::size_t bytes = 0, asked = 0;
  double absent = 0;
  std::map<int, double> on_node;
  std::optional<std::string> refusal;
  for (PlacedMemory const& some : memory) {
    bytes += some.bytes;
    asked += some.pages.sampled;
    if (some.pages.refusal) refusal = some.pages.refusal;
    double const page =
        static_cast<double>(some.bytes) / static_cast<double>(std::max<std::size_t>(1, some.pages.sampled));
    for (auto const& [node, pages] : some.pages.pages_on_node) on_node[node] += static_cast<double>(pages) * page;
    absent += static_cast<double>(some.pages.absent) * page;
  }
  if (refusal) return size_text(bytes) + ". " + *refusal;
  std::string text;
  auto const add = [&](double some, std::string const& place) {
    text += (text.empty() ? "" : ", ") + size_text(static_cast<std::uint64_t>(std::llround(some))) + ' ' + place;
  };
  for (auto const& [node, some] : on_node) add(some, "on node " + std::to_string(node));
  if (absent > 0) add(absent, "without memory");
  return text + ", by move_pages(2) of " + std::to_string(asked) + (asked == 1 ? " page." : " pages.");
}

}  // namespace

std::string placed_text(Topology const& topology, std::span<PlacedThreads const> threads,
                        std::span<PlacedMemory const> memory) {
  return "Threads: " + threads_text(topology, threads) + ". Pages: " + pages_text(memory);
}

}  // namespace penstock
