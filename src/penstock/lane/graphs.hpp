// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// Whether what a stage enqueues for a tile is captured once for each slot and launched as a graph from then on. Only
/// of a stage that promises it (Promises::capturable).
enum class Graphs : std::uint8_t {
  automatic,  ///< If the lane finds that it takes less time so.
  never,
  always,
};

inline constexpr std::array all_graphs{Graphs::automatic, Graphs::never, Graphs::always};

/// "automatic", "never", "always".
std::string_view to_string(Graphs graphs) noexcept;
/// All names, as a text lists them: "automatic, never, always".
std::string graphs_names();
/// What that name says of graphs.
///
/// Throws: Error of kind bad_argument, which names them all.
Graphs parse_graphs(std::string_view name);

}  // namespace penstock
