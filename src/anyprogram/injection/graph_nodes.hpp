// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "anyprogram/injection/profiler.hpp"
#include "anyprogram/injection/watched_calls.hpp"

/// Records the bytes that the copies and memsets of executable graphs touch.
namespace penstock::injection {

/// Writes the nodes of an executable graph, and of its child graphs. `graph` is the one that it was made of.
void write_nodes(Driver const& driver, std::uint64_t executable, void* graph) noexcept;

/// Writes what a call changed in an executable graph.
///
/// Shape: a call of Call::graph_update that succeeded, and its parameters.
void write_change(Driver const& driver, WatchedCall const& call, void const* parameters) noexcept;

}  // namespace penstock::injection
