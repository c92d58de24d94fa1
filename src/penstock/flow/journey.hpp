// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/tile.hpp"

namespace penstock {

/// Shows a sanitizer that one thread may read what another wrote, where oneTBB orders the two: the sanitizer does not
/// see into oneTBB.
///
/// Threads: any.
class Baton {
 public:
  void give() noexcept { given_.fetch_add(1, std::memory_order_release); }
  /// What was written before any `give` until now is seen after this.
  void take() const noexcept { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  // Added to and not stored, so that a thread that takes sees what all that gave had written, not the last alone.
  std::atomic<std::uint64_t> given_{0};
};

/// What travels through the graph: a tile on its way to its one Completion. There is one per tile of the pool, for
/// good.
///
/// Threads: the one that it was last given to.
struct Journey {
  Completion completion = {};
  std::uint64_t sequence = 0;  ///< The tile's place; what a host stage does to the tile's own copy does not move it.
  /// When it was completed, if that is recorded.
  std::chrono::steady_clock::time_point completed = {};
  Journey* next = nullptr;  ///< While it waits among Arrivals.
};

}  // namespace penstock
