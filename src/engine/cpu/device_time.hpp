// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <utility>

#include "engine/cpu/ready_work.hpp"
#include "engine/cpu/time_keeper.hpp"
#include "penstock/clock.hpp"

namespace penstock::cpu {

/// The time that a device keeps: the system's, or that of a TimeKeeper until the device is lost or stops.
///
/// Threads: any; those below say where the scheduler's mutex must be held.
class DeviceTime {
 public:
  using Time = Clock::time_point;

  explicit DeviceTime(std::unique_ptr<TimeKeeper> keeper) : keeper_(std::move(keeper)), kept_(keeper_.get()) {}

  /// Null for the system's time.
  TimeKeeper* keeper() const noexcept { return keeper_.get(); }
  Time told(Time passed) const noexcept { return keeper_ != nullptr ? keeper_->told(passed) : passed; }
  bool noticed(Time passed) const noexcept { return keeper_ == nullptr || keeper_->noticed(passed); }
  /// Blocks: until a host that looks finds what passed then.
  void await_notice(Time passed) const noexcept {
    if (keeper_ != nullptr) keeper_->await_notice(passed);
  }

  // The caller of these holds the mutex.

  /// The keeper, as long as operations wait for its time; else null.
  TimeKeeper* kept() const noexcept { return kept_; }
  /// Calls TimeKeeper::advance, for a time that is kept.
  void advance(Time now, TimedOperations& operations) {
    Time const next = kept_->advance(now, operations);
    if (next >= next_look_) return;
    next_look_ = next;
    changed_.notify_one();
  }
  /// Called by the thread that keeps time: it looks now, and says then when it looks again.
  void begin_look() noexcept { next_look_ = Time::max(); }
  /// Blocks: until the next thing happens, or the time is kept no longer, or for no reason.
  void await_next(SchedulerLock& lock) { lock.wait_until(changed_, Clock::real(next_look_)); }
  /// From here on it keeps the system's time. Returns the keeper, or null if that was so before.
  TimeKeeper* end() noexcept {
    changed_.notify_all();
    return std::exchange(kept_, nullptr);
  }

 private:
  std::unique_ptr<TimeKeeper> const keeper_;
  TimeKeeper* kept_;
  Time next_look_ = Time::max();  ///< Next look of the thread that keeps time.
  std::condition_variable changed_;
};

}  // namespace penstock::cpu
