// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "penstock/core/completion.hpp"

namespace penstock {

/// Shows a sanitizer that what one thread wrote is for another to read, where it is oneTBB that orders the two: the
/// sanitizer does not see into oneTBB.
///
/// Threads: any.
class Baton {
 public:
  void give() noexcept { given_.fetch_add(1, std::memory_order_release); }
  /// What was written before any `give` until now is seen after this.
  void take() const noexcept { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  // Added to and not stored, so that who takes sees what all who gave had written, not the last alone.
  std::atomic<std::uint64_t> given_{0};
};

/// What travels through the graph: a tile on its way to its one Completion. There is one per tile of the pool, for
/// good.
///
/// Threads: whoever it was last given to.
struct Journey {
  Completion completion = {};
  std::uint64_t sequence = 0;  ///< The tile's place; what a host stage does to the tile's own copy moves nothing.
  /// When it was completed, if somebody records that.
  std::chrono::steady_clock::time_point completed = {};
  Journey* next = nullptr;  ///< While it waits among Arrivals.
};

}  // namespace penstock
