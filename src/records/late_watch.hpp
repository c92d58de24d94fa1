// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

#include "engine/core/event_count.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Maximum sleep of a thread that only a bell is to wake.
inline constexpr std::chrono::hours until_rung{1};

/// Wakes the thread that watches the clock when there is something to watch; otherwise that thread sleeps.
///
/// Threads: any, unless a function says otherwise.
template <class Atomics = StandardAtomics>
class BasicLateWatch {
 public:
  using Clock = penstock::Clock;

  /// Must be called before `watch`.
  void begin() noexcept { over_.store(false, std::memory_order_seq_cst); }
  void end() noexcept {
    over_.store(true, std::memory_order_seq_cst);
    bell_.notify();
  }

  /// Announces a new item that `send_late` will find.
  void wake() noexcept {
    if (asleep_.load(std::memory_order_seq_cst)) bell_.notify();
  }
  /// Requests a call of `send_late` at once, since its last answer may be outdated.
  void look_again() noexcept {
    look_again_.store(true, std::memory_order_seq_cst);
    bell_.notify();
  }

  /// Calls `send_late(now)` whenever something is late: that sends it, and returns the next time; empty if nothing
  /// waits.
  ///
  /// Threads: one.
  /// Blocks:  until `end`, asleep while nothing waits.
  template <class SendLate>
  void watch(SendLate const& send_late) noexcept {
    while (!over_.load(std::memory_order_seq_cst)) {
      look_again_.store(false, std::memory_order_seq_cst);
      auto const now = Clock::now();
      if (auto const next = send_late(now)) {
        bell_.await(
            [&] { return over_.load(std::memory_order_seq_cst) || look_again_.load(std::memory_order_seq_cst); }, {},
            *next - now);
        continue;
      }
      auto const key = bell_.prepare();
      // Seq_cst, as is the read after a pack is put down: either that thread rings, or this one finds the pack.
      asleep_.store(true, std::memory_order_seq_cst);
      if (over_.load(std::memory_order_seq_cst) || send_late(Clock::now())) {
        bell_.cancel();
      } else {
        bell_.wait(key, until_rung);
      }
      asleep_.store(false, std::memory_order_seq_cst);
    }
  }

 private:
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  Atomic<bool> asleep_{false};
  Atomic<bool> over_{false};
  Atomic<bool> look_again_{false};
  BasicEventCount<Atomics> bell_;
};

}  // namespace penstock
