// SPDX-License-Identifier: Apache-2.0
#include "penstock/clock.hpp"

#include <limits>
#include <mutex>
#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Held while the clock is decided on.
std::mutex one_at_a_time;

}  // namespace

std::chrono::nanoseconds Clock::real(duration time) noexcept {
  rep const factor = slower();
  constexpr rep most = std::numeric_limits<rep>::max();
  if (time.count() > most / factor) return duration::max();
  if (time.count() < -(most / factor)) return duration::min();
  return time * factor;
}

std::chrono::steady_clock::time_point Clock::real(time_point when) noexcept {
  using Real = std::chrono::steady_clock::time_point;
  if (slower() == 1) return Real(std::chrono::duration_cast<Real::duration>(when.time_since_epoch()));
  if (when == time_point::max()) return Real::max();
  duration const origin(origin_.load(std::memory_order_relaxed));
  duration const since = real(when.time_since_epoch() - origin);
  if (since > duration::max() - origin) return Real::max();
  return Real(std::chrono::duration_cast<Real::duration>(origin + since));
}

void Clock::slow_down(unsigned factor) {
  std::scoped_lock const lock(one_at_a_time);
  if (factor == 0) throw Error(ErrorKind::bad_argument, "A clock cannot be slower by 0: say 1 or more.");
  if (factor == slower()) return;
  if (slower() != 1) {
    throw Error(ErrorKind::bad_argument, "The clock of this process is already " + std::to_string(slower()) +
                                             " times slower: open all modelled devices with the same factor.");
  }
  if (kept()) {
    throw Error(ErrorKind::bad_argument,
                "A modelled GPU slows the clock of the process, and a real device was opened before: open models in a "
                "process of their own.");
  }
  origin_.store(now().time_since_epoch().count(), std::memory_order_relaxed);
  slower_.store(factor, std::memory_order_release);
}

void Clock::keep() {
  std::scoped_lock const lock(one_at_a_time);
  if (slower() != 1) {
    throw Error(
        ErrorKind::bad_argument,
        "A modelled GPU slowed the clock of the process, so a real device would seem faster: name models only.");
  }
  kept_.store(true, std::memory_order_relaxed);
}

}  // namespace penstock
