// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>

#include "engine/flow/tile_route.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using Kind = GraphNode::Kind;

/// Words behind a node's name: how many tiles it works on at once.
std::string how_many(GraphNode const& node) {
  if (node.kind == Kind::lanes)
    return node.at_once == 1 ? ", 1 of them" : ", " + std::to_string(node.at_once) + " of them";
  if (node.at_once == 0) return ", one for each consumer";
  return node.at_once == 1 ? ", one at a time" : ", up to " + std::to_string(node.at_once) + " at once";
}

/// A string of Graphviz.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::vector<GraphNode> nodes_of(TileRoute::Options const& options) {
  std::vector<GraphNode> nodes;
  auto const add = [&](GraphNode node) {
    if (!nodes.empty()) nodes.back().to = {nodes.size()};
    nodes.push_back(std::move(node));
  };
  for (HostStage const& stage : options.host_stages) {
    add({.kind = Kind::host_stage,
         .name = stage.name.empty() ? "host stage " + std::to_string(nodes.size() + 1) : stage.name,
         .at_once = stage.at_once});
  }
  if (options.sink_at_once && !options.ordered) return nodes;
  add({.kind = Kind::lanes, .name = "lanes", .at_once = options.lanes});
  bool const one = !options.parallel_sink;
  if (options.ordered) add({.kind = Kind::order, .name = one ? "order and sink" : "order", .at_once = 1});
  if (!options.ordered || !one) add({.kind = Kind::sink, .name = "sink", .at_once = one ? 1U : 0U});
  return nodes;
}

std::string describe(std::span<GraphNode const> graph) {
  if (graph.empty()) return "no node: producers hand tiles to lanes, which call the sink";
  std::string text;
  for (GraphNode const& node : graph) {
    text += (text.empty() ? "" : "\n") + node.name + how_many(node);
    for (std::size_t const next : node.to) text += " -> " + graph[next].name;
  }
  return text;
}

std::string as_dot(std::span<GraphNode const> graph) {
  std::string text = "digraph pipeline {\n  rankdir=LR;\n";
  for (std::size_t number = 0; number < graph.size(); ++number) {
    std::string const here = "  n" + std::to_string(number);
    text += here + " [label=" + in_quotes(graph[number].name + how_many(graph[number])) + "];\n";
    for (std::size_t const next : graph[number].to) text += here + " -> n" + std::to_string(next) + ";\n";
  }
  return text + "}\n";
}

}  // namespace penstock
