// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/core/atomics.hpp"

namespace penstock {

/// The threads that wait for a tile of a pool: how many sleep, and whether one watches, awake.
///
/// A thread that brings a tile home pushes it and then looks here. A thread that is going to wait says so here and then
/// looks for a tile. Both write here, even to look, so the later of the two reads what the earlier one wrote and sees
/// what it did before: either the waiting thread finds the tile, or the other thread finds that one waits.
///
/// Threads: any.
template <class Atomics = StandardAtomics>
class BasicWaiters {
 public:
  /// Counts the calling thread, which is going to sleep unless it finds a tile now.
  void add_sleeper() noexcept { sleepers_.fetch_add(1, std::memory_order_seq_cst); }
  void remove_sleeper() noexcept { sleepers_.fetch_sub(1, std::memory_order_seq_cst); }
  /// False if another thread watches.
  bool begin_watch() noexcept { return watched_.exchange(1, std::memory_order_seq_cst) == 0; }
  /// The thread that watched must look for a tile once more after this call: another thread may have pushed one and
  /// left it to the watch.
  void end_watch() noexcept { watched_.exchange(0, std::memory_order_seq_cst); }

  // Both add 0 and do not load. In the first, the thread that counts itself next reads what this wrote, and so sees the
  // push. In the second, a load could return a value from before another thread's watch ended.

  /// Called after a push: true if no thread sleeps. A thread that goes to sleep from now on finds the tile.
  bool none_sleeps_behind_push() noexcept { return sleepers_.fetch_add(0, std::memory_order_seq_cst) == 0; }
  /// Called after a push: true if a thread watches. That thread finds the tile, or ends its watch after this call.
  bool one_watches_behind_push() noexcept { return watched_.fetch_add(0, std::memory_order_seq_cst) != 0; }

  /// True if threads sleep. A thread asks it that would take a tile that may be meant for them, or that may wake them.
  bool any_sleeps() const noexcept { return sleepers_.load(std::memory_order_seq_cst) != 0; }
  bool one_watches() const noexcept { return watched_.load(std::memory_order_seq_cst) != 0; }
  /// The number of sleeping threads, for reports.
  std::uint32_t sleepers() const noexcept { return sleepers_.load(std::memory_order_acquire); }
  /// A guess, which orders nothing.
  bool some_may_sleep() const noexcept { return sleepers_.load(std::memory_order_relaxed) != 0; }

 private:
  typename Atomics::template Atomic<std::uint32_t> sleepers_{0};
  typename Atomics::template Atomic<std::uint32_t> watched_{0};  ///< 1 while a thread watches.
};

using Waiters = BasicWaiters<>;

}  // namespace penstock
