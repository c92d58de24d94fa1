// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/executable_graphs.hpp"

namespace penstock::cli {

using namespace watch_log;

void ExecutableGraphs::take(WatchRecord const& call) {
  bool const made = static_cast<Call>(call.what) == Call::instantiate;
  // The records of the graph have changes of single nodes.
  if (!made && call.second == 0) return;
  Graph& graph = graphs_[call.first];
  graph.touched = {.nodes = {}, .known = true};
  graph.replaced = !made;
  // Earlier records belong to another graph of that handle, or to the nodes that are replaced.
  if (auto const records = log_.graphs.find(call.first); records != log_.graphs.end())
    while (graph.next < records->second.size() && records->second[graph.next].begin < call.begin) ++graph.next;
}

ExecutableGraphs::Nodes const& ExecutableGraphs::launched(WatchRecord const& call) {
  Graph& graph = graphs_[call.first];
  if (auto const records = log_.graphs.find(call.first); records != log_.graphs.end())
    while (graph.next < records->second.size() && records->second[graph.next].begin <= call.begin)
      change(graph, records->second[graph.next++]);
  return graph.touched;
}

void ExecutableGraphs::change(Graph& graph, WatchRecord const& record) {
  std::uint64_t const node = record.end;
  bool const unknown = record.kind == Kind::graph_unknown;
  if (bool const as_made = record.what == 0; !as_made && !graph.touched.nodes.contains(node)) {
    // It is not known which of the replacing nodes this is. Otherwise the node was no copy and no memset.
    if (node == 0 || graph.replaced || !unknown) graph.touched.known = false;
    return;
  }
  graph.touched.nodes[node] = unknown ? nullptr : &record;
}

}  // namespace penstock::cli
