// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/core/atomics.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// The number of tiles of a pool that are out: all that were ever lent, less all that came home. Each count has a cache
/// line of its own, since some threads lend while others bring tiles home (docs/decisions/threads.md).
///
/// Threads: any. A thread that brings a tile home has seen that it was lent.
template <class Atomics = StandardAtomics>
class BasicLoanCount {
 public:
  void lend() noexcept { lent_.fetch_add(1, std::memory_order_relaxed); }
  /// This is the last access of the calling thread: once a thread sees that no tile is out, the count may be destroyed.
  void bring_home() noexcept {
    // Release: a thread that sees this tile home sees what was done before.
    std::uint32_t const before = returned_.fetch_add(one_tile, std::memory_order_release);
    if ((before & waiters_mask) != 0) Atomics::wake_all(returned_);
  }
  /// Exact when no other thread lends or brings home; while others lend it may be too high.
  std::size_t out() const noexcept { return out_at(returned_.load(std::memory_order_acquire)); }
  /// True once none is out; false if one still is after about `at_most`. Up to 4,095 threads may wait at once.
  ///
  /// Blocks: until then.
  bool wait_until_none(std::chrono::nanoseconds at_most) noexcept {
    auto const start = Clock::now();
    // It sleeps on the word that changes with each tile that comes home. Acquire: what has come home is seen as lent,
    // or it would sleep though none is out.
    std::uint32_t now = returned_.fetch_add(one_waiter, std::memory_order_acquire) + one_waiter;
    while (out_at(now) != 0) {
      auto const elapsed = Clock::now() - start;
      if (elapsed >= at_most) break;
      Atomics::wait(returned_, now, at_most - elapsed);
      now = returned_.load(std::memory_order_acquire);
    }
    // Acquire: with all tiles home, all that was done before is seen.
    return out_at(returned_.fetch_sub(one_waiter, std::memory_order_acquire)) == 0;
  }

 private:
  using Atomic = typename Atomics::template Atomic<std::uint32_t>;
  static constexpr std::uint32_t one_waiter = 1;
  static constexpr std::uint32_t one_tile = std::uint32_t{1} << 12;
  static constexpr std::uint32_t waiters_mask = one_tile - 1;
  /// Both counts repeat after this many tiles. Fewer are out at any time: a pool has at most 65,534, and a tile that is
  /// lent again while a thread still brings it home counts twice. Between two looks of a thread that asks, fewer are
  /// lent, too.
  static constexpr std::uint32_t lap = std::uint32_t{1} << 20;

  /// The tiles out at this value of `returned_`. `lent_` is read after it: what has come home was lent before.
  std::size_t out_at(std::uint32_t returned) const noexcept {
    return (lent_.load(std::memory_order_relaxed) - returned / one_tile) % lap;
  }

  alignas(64) Atomic lent_{0};
  alignas(64) Atomic returned_{0};  ///< High bits: tiles; low bits: threads that wait until none is out.
};

using LoanCount = BasicLoanCount<>;

}  // namespace penstock
