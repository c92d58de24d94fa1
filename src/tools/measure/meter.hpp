// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/flow/judge.hpp"

namespace penstock::measure {

/// Counts tiles as they come out, and takes time and CPU time from one of them to another: neither the start of a run
/// nor its end is in the window.
///
/// Threads: any.
/// Blocks:  never.
class Meter {
 public:
  using Clock = std::chrono::steady_clock;

  /// The window opens `warm_up` after the first tile, or as much as `longer` later if there were not `settling` tiles
  /// by then; and closes with the first tile that comes `window` later.
  Meter(std::chrono::nanoseconds warm_up, std::chrono::nanoseconds window, std::uint64_t settling = 0,
        std::chrono::nanoseconds longer = {})
      : warm_up_(warm_up), window_(window), settling_(settling), longer_(longer) {}
  void count();
  /// True once the window is closed: there is no use in more tiles.
  bool over() const noexcept { return state_.load(std::memory_order_acquire) == State::closed; }
  /// What was in the window; empty if the run ended before it closed.
  std::optional<Metered> metered() const;

 private:
  enum class State : std::uint8_t { before, opening, warming, marking, open, closing, closed };
  /// True for the one thread that takes the state from one to the next.
  bool take(State from, State to) noexcept {
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

  std::chrono::nanoseconds const warm_up_;
  std::chrono::nanoseconds const window_;
  std::uint64_t const settling_;
  std::chrono::nanoseconds const longer_;
  std::atomic<State> state_{State::before};
  // Each is written by the thread that takes the state on, and read in the states after.
  Clock::time_point warm_from_{};
  Clock::time_point opened_{};
  std::uint64_t count_opened_ = 0;
  double cpu_opened_ = 0;
  Metered metered_;
  alignas(64) std::atomic<std::uint64_t> count_{0};
};

/// What repeated measurements of one thing came to.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;

  /// How far the measurements lie from the median, as a part of it; 0 for a single one.
  double relative() const noexcept;
};

/// Shape: at least one, in any order.
Spread spread_of(std::vector<double> values);

}  // namespace penstock::measure
