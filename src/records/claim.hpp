// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/core/event_count.hpp"
#include "records/pack.hpp"

namespace penstock {

/// Lets other threads send the records of a pack while its writer fills room behind them.
///
/// The bytes of records and those of the room are disjoint, so a thread that sends moves the records to another tile
/// and leaves the room in place.
///
/// Threads: the writer's, or any, as each function says.
template <class Atomics = StandardAtomics>
class BasicClaim {
 public:
  /// Other threads may divide the pack from now on.
  ///
  /// Threads: the writer's.
  void open(Pack& pack) noexcept {
    pack_.write(&pack);
    // Seq_cst, as is the check of a thread that finds lanes hungry or records late: either it sees the claim, or the
    // writer later sees what that thread found.
    state_.store(open_to_all, std::memory_order_seq_cst);
  }
  /// Ends the claim: only the writer uses the pack afterwards. Its records may have left meanwhile.
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

  /// True if records can be taken, as far as is known.
  ///
  /// Threads: any.
  bool is_open() const noexcept { return state_.load(std::memory_order_seq_cst) == open_to_all; }
  /// True if another thread wanted them and had no tile for them.
  ///
  /// Threads: any.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_seq_cst) == wanted; }

  /// Makes `move` take the records out of the pack: it returns the pack where they are now, or null if there is no
  /// tile. Null as well if the claim is closed, or another thread divides it.
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
  typename Atomics::template Plain<Pack*> pack_{};  ///< Changed only by the writer while the state is none.
  BasicEventCount<Atomics> divided_;                ///< Notified when the state is no longer busy.
};

using Claim = BasicClaim<>;

}  // namespace penstock
