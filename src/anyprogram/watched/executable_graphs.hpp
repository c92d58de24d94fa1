// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// Keeps track of the bytes that the copies and memsets of executable graphs touch, while calls make and change these
/// graphs.
///
/// Shape: calls are taken by their begin. The log outlives it, and is not moved.
class ExecutableGraphs {
 public:
  /// Nodes of a graph that touch bytes.
  struct Nodes {
    /// Copies and memsets by their node; null: the bytes that the node touches are not known.
    std::map<std::uint64_t, WatchRecord const*> nodes = {};
    bool known = false;  ///< False: the bytes that the graph touches are not known at all.
  };

  explicit ExecutableGraphs(WatchLog const& log) : log_(log) {}

  /// Takes a call that makes a graph executable, or changes such a graph.
  void take(WatchRecord const& call);
  /// The nodes of a graph, in their state when the call launches it.
  Nodes const& launched(WatchRecord const& call);

 private:
  struct Graph {
    Nodes touched = {};
    std::size_t next = 0;   ///< Index of the next record of WatchLog::graphs.
    bool replaced = false;  ///< Its nodes were replaced by those of another graph, while calls still name those that it
                            ///< was made of.
  };
  static void change(Graph& graph, WatchRecord const& record);

  WatchLog const& log_;
  std::unordered_map<std::uint64_t, Graph> graphs_;
};

}  // namespace penstock::cli
