// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "penstock/records/pack.hpp"

namespace penstock {

/// Lets others send the records of a pack while its writer fills room behind them.
///
/// The bytes of records and the bytes of the room are apart, so one who sends moves the records to another tile and
/// leaves the room where it is.
///
/// Threads: the writer's, or any, as each function says.
class Claim {
 public:
  /// Others may divide the pack from here on.
  ///
  /// Threads: the writer's.
  void open(Pack& pack) noexcept {
    pack_ = &pack;
    // Seq_cst, as is the look of those who find lanes hungry or records late: they see the claim, or the writer behind
    // this finds what they found.
    state_.store(State::open, std::memory_order_seq_cst);
  }
  /// Nobody but the writer is at the pack after this. Its records may have left meanwhile.
  ///
  /// Threads: the writer's.
  /// Blocks:  while the pack is divided, which takes as long as to copy a tile.
  void close() noexcept {
    State now = state_.load(std::memory_order_acquire);
    while (now != State::none) {
      if (now == State::busy) {
        state_.wait(State::busy, std::memory_order_acquire);
        now = state_.load(std::memory_order_acquire);
      } else if (state_.compare_exchange_weak(now, State::none, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return;
      }
    }
  }

  /// True if there are records to be had, as far as is known.
  ///
  /// Threads: any.
  bool is_open() const noexcept { return state_.load(std::memory_order_seq_cst) == State::open; }
  /// True if they were wanted and there was no tile for them.
  ///
  /// Threads: any.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_seq_cst) == State::wanted; }

  /// Has `move` take the records out of the pack: it gives the pack where they are now, or null if there is no tile.
  /// Null as well if the claim is closed, or another thread divides it.
  ///
  /// Threads: any.
  template <class Move>
  Pack* divide(Move const& move) noexcept {
    State now = state_.load(std::memory_order_acquire);
    do {
      if (now != State::open && now != State::wanted) return nullptr;
    } while (!state_.compare_exchange_weak(now, State::busy, std::memory_order_seq_cst));
    Pack* const moved = move(*pack_);
    state_.store(moved != nullptr ? State::none : State::wanted, std::memory_order_seq_cst);
    state_.notify_all();
    return moved;
  }

 private:
  enum class State : std::uint8_t { none, open, wanted, busy };
  std::atomic<State> state_{State::none};
  Pack* pack_ = nullptr;  ///< The writer's to change while the state is none.
};

}  // namespace penstock
