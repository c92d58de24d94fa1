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

  /// How many seconds of the system pass in one second of this clock.
  static unsigned slower() noexcept {
    // Acquire: a thread that sees the factor sees the origin.
    return slower_.load(std::memory_order_acquire);
  }
  /// How long that is for the system, for calls of the system that wait.
  static std::chrono::nanoseconds real(duration time) noexcept;
  /// When that is for the system. The end of time stays the end of time.
  static std::chrono::steady_clock::time_point real(time_point when) noexcept;

  /// From now on it is slower than the system's by that factor. What it showed before stays as it was.
  ///
  /// Threads: any, before other threads use the clock.
  /// Throws:  Error of kind bad_argument for 0, and if it is slower by another factor already or is to stay as it is: a
  /// process has one clock.
  static void slow_down(unsigned factor);
  /// From now on it stays the system's, since a device that is no model was opened.
  ///
  /// Threads: any.
  /// Throws:  Error of kind bad_argument, if it is slower already.
  static void keep();
  /// Whether it is to stay the system's.
  static bool kept() noexcept { return kept_.load(std::memory_order_relaxed); }

 private:
  static duration dilated(std::chrono::steady_clock::duration real, unsigned factor) noexcept {
    std::int64_t const origin = origin_.load(std::memory_order_relaxed);
    return duration(origin + (std::chrono::duration_cast<duration>(real).count() - origin) / factor);
  }

  static inline std::atomic<unsigned> slower_{1};
  static inline std::atomic<bool> kept_{false};
  static inline std::atomic<std::int64_t> origin_{0};  ///< When it began to go more slowly, in nanoseconds of both.
};

}  // namespace penstock
