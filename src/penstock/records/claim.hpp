// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "penstock/core/event_count.hpp"
#include "penstock/records/pack.hpp"

namespace penstock {

/// Lets others send the records of a pack while its writer fills room behind them.
///
/// The bytes of records and the bytes of the room are apart, so a thread that sends moves the records to another tile
/// and leaves the room where it is.
///
/// Threads: the writer's, or any, as each function says.
template <class Atomics = StandardAtomics>
class BasicClaim {
 public:
  /// Others may divide the pack from here on.
  ///
  /// Threads: the writer's.
  void open(Pack& pack) noexcept {
    pack_.write(&pack);
    // Seq_cst, as is the look of a thread that finds lanes hungry or records late: either it sees the claim, or the
    // writer sees after this what that thread found.
    state_.store(open_to_all, std::memory_order_seq_cst);
  }
  /// Only the writer uses the pack after this. Its records may have left meanwhile.
  ///
  /// Threads: the writer's.
  /// Blocks:  while the pack is divided, which takes as long as to copy a tile.
  void close() noexcept {
    std::uint32_t now = state_.load(std::memory_order_acquire);
    while (now != none) {
      if (now == busy) {
        divided_.await([&] { return (now = state_.load(std::memory_order_acquire)) != busy; }, {},
                       std::chrono::hours(1));
      } else if (state_.compare_exchange_weak(now, none, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return;
      }
    }
  }

  /// True if there are records to be had, as far as is known.
  ///
  /// Threads: any.
  bool is_open() const noexcept { return state_.load(std::memory_order_seq_cst) == open_to_all; }
  /// True if they were wanted and there was no tile for them.
  ///
  /// Threads: any.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_seq_cst) == wanted; }

  /// Has `move` take the records out of the pack: it gives the pack where they are now, or null if there is no tile.
  /// Null as well if the claim is closed, or another thread divides it.
  ///
  /// Threads: any.
  template <class Move>
  Pack* divide(Move const& move) noexcept {
    std::uint32_t now = state_.load(std::memory_order_acquire);
    do {
      if (now != open_to_all && now != wanted) return nullptr;
    } while (!state_.compare_exchange_weak(now, busy, std::memory_order_seq_cst, std::memory_order_acquire));
    Pack* const moved = move(*pack_.read());
    state_.store(moved != nullptr ? none : wanted, std::memory_order_seq_cst);
    divided_.notify();
    return moved;
  }

 private:
  static constexpr std::uint32_t none = 0, open_to_all = 1, wanted = 2, busy = 3;
  typename Atomics::template Atomic<std::uint32_t> state_{none};
  typename Atomics::template Plain<Pack*> pack_{};  ///< The writer's to change while the state is none.
  BasicEventCount<Atomics> divided_;                ///< Rung when the state is busy no longer.
};

using Claim = BasicClaim<>;

}  // namespace penstock
