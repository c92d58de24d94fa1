// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/core/atomics.hpp"

namespace penstock {

/// Who waits for a tile of a pool: how many threads sleep, and whether one watches, awake.
///
/// A thread that brings a tile home pushes it and then looks here; one that is going to wait says so here and then
/// looks for a tile. Each does so by a write, so of any two the second reads what the first wrote, and sees what was
/// done before it: either who waits finds the tile, or who brings it finds who waits.
///
/// Threads: any.
template <class Atomics = StandardAtomics>
class BasicWaiters {
 public:
  /// The calling thread is going to sleep, unless it finds a tile now.
  void add_sleeper() noexcept { sleepers_.fetch_add(1, std::memory_order_seq_cst); }
  void remove_sleeper() noexcept { sleepers_.fetch_sub(1, std::memory_order_seq_cst); }
  /// False if another thread watches.
  bool begin_watch() noexcept { return watched_.exchange(1, std::memory_order_seq_cst) == 0; }
  /// Who leaves a tile to the thread that watches has pushed it before it looked: so this thread finds it, if it looks
  /// once more behind this.
  void end_watch() noexcept { watched_.exchange(0, std::memory_order_seq_cst); }

  // Added to and not loaded. Of the first, who counts itself next reads what this wrote, and so sees the push. Of the
  // second, a load might give what was there before another thread's watch ended.

  /// Behind a push: true if nobody sleeps. Who sleeps from now on finds the tile.
  bool none_sleeps_behind_push() noexcept { return sleepers_.fetch_add(0, std::memory_order_seq_cst) == 0; }
  /// Behind a push: true if a thread watches, which finds the tile or ends its watch from now on.
  bool one_watches_behind_push() noexcept { return watched_.fetch_add(0, std::memory_order_seq_cst) != 0; }

  /// True if threads sleep. For one that is going to take a tile that may be meant for them, or that may wake them.
  bool any_sleeps() const noexcept { return sleepers_.load(std::memory_order_seq_cst) != 0; }
  bool one_watches() const noexcept { return watched_.load(std::memory_order_seq_cst) != 0; }
  /// The number of those that sleep, to be told.
  std::uint32_t sleepers() const noexcept { return sleepers_.load(std::memory_order_acquire); }
  /// A guess, which orders nothing.
  bool some_may_sleep() const noexcept { return sleepers_.load(std::memory_order_relaxed) != 0; }

 private:
  typename Atomics::template Atomic<std::uint32_t> sleepers_{0};
  typename Atomics::template Atomic<std::uint32_t> watched_{0};  ///< 1 while a thread watches.
};

using Waiters = BasicWaiters<>;

}  // namespace penstock
