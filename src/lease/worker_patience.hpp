// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "lease/worker_page.hpp"

namespace penstock {

/// What is seen of a worker at one look.
struct WorkerSigns {
  std::uint64_t moved = 0;  ///< Parts of leases that were done.
  bool holds = false;       ///< It has leases out.
  bool waits = false;       ///< For the ledger, or for its lines to be passed on.
  bool stopped = false;     ///< By SIGSTOP.
};

/// What a worker says of itself.
inline WorkerSigns signs_of(WorkerPage const& page) noexcept {
  return {.moved = page.moved.load(std::memory_order_relaxed),
          .holds = page.held.load(std::memory_order_relaxed) != 0,
          .waits = page.asking.load(std::memory_order_relaxed) != 0};
}

/// Judges whether a worker hangs: it has leases out, and none of them moves.
///
/// Only time that passes between two looks counts, and of that no more than `most_step`: where the watching process did
/// not run, the workers may not have run either.
///
/// Threads: one at a time.
class WorkerPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;

  WorkerPatience(std::chrono::nanoseconds patience, std::chrono::nanoseconds most_step, Time now)
      : patience_(patience), most_step_(most_step), seen_(now) {}

  /// True if it hangs.
  bool look(WorkerSigns const& signs, Time now) noexcept {
    bool const is_idle = signs.stopped || (signs.holds && !signs.waits && signs.moved == moved_);
    idle_ = is_idle ? idle_ + std::min<std::chrono::nanoseconds>(now - seen_, most_step_) : std::chrono::nanoseconds(0);
    moved_ = signs.moved;
    seen_ = now;
    return idle_ >= patience_;
  }

 private:
  std::chrono::nanoseconds const patience_, most_step_;
  Time seen_;
  std::chrono::nanoseconds idle_{0};
  std::uint64_t moved_ = 0;
};

/// Pauses before a worker is started again. One that was of use, or was of none for the first time, is started at
/// once; then the pauses double.
class WorkerPause {
 public:
  WorkerPause(std::chrono::milliseconds shortest, std::chrono::milliseconds longest)
      : shortest_(shortest), longest_(longest) {}

  /// The worker ended. Returns: the pause; 0 for none.
  std::chrono::milliseconds after_end(bool was_of_use) noexcept {
    if (was_of_use) {
      ends_ = 0;
      pause_ = std::chrono::milliseconds(0);
    } else if (++ends_ > 1) {
      pause_ = std::min(longest_, pause_.count() == 0 ? shortest_ : 2 * pause_);
    }
    return pause_;
  }
  /// Ends in a row of workers that were of no use.
  std::uint64_t ends() const noexcept { return ends_; }

 private:
  std::chrono::milliseconds const shortest_, longest_;
  std::chrono::milliseconds pause_{0};
  std::uint64_t ends_ = 0;
};

}  // namespace penstock
