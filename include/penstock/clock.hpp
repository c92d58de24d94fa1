// SPDX-License-Identifier: Apache-2.0
// The clock of everything that penstock measures, waits for and reports.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock {

/// The system's steady clock; or, once a modelled device was opened, a clock that is slower by a factor, so that a
/// small machine can stand for a large one (docs/models.md).
///
/// Threads: any.
class Clock {
 public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    auto const real = std::chrono::steady_clock::now().time_since_epoch();
    unsigned const factor = slower();
    return time_point(factor == 1 ? std::chrono::duration_cast<duration>(real) : dilated(real, factor));
  }

  /// Seconds of the system clock per second of this clock.
  static unsigned slower() noexcept {
    // Acquire: a thread that sees the factor sees the origin.
    return slower_.load(std::memory_order_acquire);
  }
  /// Converts a time of this clock to the system's, for system calls that wait.
  static std::chrono::nanoseconds real(duration time) noexcept;
  /// Converts a time point of this clock to the system's. The maximum time point is kept.
  static std::chrono::steady_clock::time_point real(time_point when) noexcept;

  /// Makes the clock slower than the system's by this factor, from now on. Times that it returned before stay valid.
  ///
  /// Threads: any, before other threads use the clock.
  /// Throws:  Error of kind bad_argument for 0, and if it is slower by another factor already, or fixed to the
  ///          system's: a process has one clock.
  static void slow_down(unsigned factor);
  /// Fixes the clock to the system's, from now on: a device that is no model was opened.
  ///
  /// Threads: any.
  /// Throws:  Error of kind bad_argument, if it is slower already.
  static void keep();
  /// True if the clock is fixed to the system's.
  static bool kept() noexcept { return kept_.load(std::memory_order_relaxed); }

 private:
  static duration dilated(std::chrono::steady_clock::duration real, unsigned factor) noexcept {
    std::int64_t const origin = origin_.load(std::memory_order_relaxed);
    return duration(origin + (std::chrono::duration_cast<duration>(real).count() - origin) / factor);
  }

  static inline std::atomic<unsigned> slower_{1};
  static inline std::atomic<bool> kept_{false};
  static inline std::atomic<std::int64_t> origin_{0};  ///< Time at which it was slowed down, in nanoseconds of both
                                                       /// clocks.
};

}  // namespace penstock
