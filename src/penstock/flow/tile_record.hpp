// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "penstock/tile.hpp"

namespace penstock {

/// What a run knows of one tile on its route, from the thread that filled it to the sink. There is one for each tile of
/// the pool, for good.
///
/// Threads: the one that it was last given to. While a lane has the tile, the record is the lane's.
struct TileRecord {
  Completion completion = {};
  std::uint64_t sequence = 0;  ///< The tile's place; what a host stage does to the tile's own copy does not move it.
  /// When a lane completed it, if that is recorded.
  std::chrono::steady_clock::time_point completed = {};
  TileRecord* next = nullptr;  ///< While it waits among Arrivals.
};

}  // namespace penstock
