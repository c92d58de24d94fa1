// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "penstock/clock.hpp"

namespace penstock {

/// Decides how long a thread still waits for a device that finishes nothing.
///
/// It counts the time that the thread sees pass, look by look. Between two looks it counts at most the time that a
/// running thread takes. A process that is stopped, a frozen container or a suspended machine looks at nothing, and its
/// devices may have stood still as well. The first gap that is longer than that lets the count start again, so that the
/// device gets the whole time once more. Later gaps count as one step each, so the end comes however often the thread
/// is held up.
///
/// Units:   the caller's clock; it never goes back.
/// Threads: one.
class Patience {
 public:
  using Clock = penstock::Clock;

  /// Lasts for `length`, looked at about every `between_looks`, from `now` on.
  Patience(std::chrono::nanoseconds length, std::chrono::nanoseconds between_looks, Clock::time_point now) noexcept
      : length_(length),
        longest_step_(std::min(std::max<std::chrono::nanoseconds>(most_late, 4 * std::min(between_looks, length / 4)),
                               length / 4)),
        looked_(now) {}

  /// The device finished something, or was given the first work.
  void renew(Clock::time_point now) noexcept {
    looked_ = now;
    counted_ = {};
    started_again_ = false;
  }
  /// Counts the time since the last look. True once the count reaches `length`.
  bool runs_out(Clock::time_point now) noexcept {
    std::chrono::nanoseconds const step = now - looked_;
    looked_ = now;
    if (step > longest_step_ && !started_again_) {
      started_again_ = true;
      counted_ = {};
      return false;
    }
    counted_ += std::min(step, longest_step_);
    return counted_ >= length_;
  }

 private:
  /// A thread that is to run may be this late on a busy machine without the count being disturbed.
  static constexpr std::chrono::milliseconds most_late{200};

  std::chrono::nanoseconds const length_;
  std::chrono::nanoseconds const longest_step_;
  Clock::time_point looked_;
  std::chrono::nanoseconds counted_{0};
  bool started_again_ = false;
};

}  // namespace penstock
