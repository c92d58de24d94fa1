// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::cpu {

/// The system's time that a host thread owes for what it did on a Clock that is slower by a factor.
///
/// Time for which the thread waited for a CPU is not its own: it counts towards what is owed. So work takes as long as
/// on the modelled machine, also where CPUs are scarce, as long as the thread owes more than it waited. What goes
/// beyond is lost: to the thread its work took too long.
///
/// Threads: one at a time.
/// Units:   nanoseconds of the system.
class HostAccount {
 public:
  using Time = std::int64_t;

  /// A sleep that is shorter is not worth while.
  static constexpr Time least_sleep = 20'000;
  /// Maximum that is saved for later of sleeps that were too long,
  static constexpr Time most_saved = 500'000;
  /// or this on the slower clock, if that is more: a thread is as late there on a clock of any factor.
  static constexpr Time most_saved_on_clock = 25'000;
  /// Waits for a CPU that were shorter are like those of any machine.
  static constexpr Time least_wait = 200'000;

  /// It had the CPU for `work`, and waited for one for `waited`.
  void work(Time work, Time waited, Time factor) noexcept {
    saves_ = std::max(most_saved, factor * most_saved_on_clock);
    due_ += work * factor;
    owed_ += work * (factor - 1);
    if (waited >= least_wait) spend(waited);
  }
  /// It called a modelled device, which takes that long.
  void call(Time cost) noexcept {
    due_ += cost;
    owed_ += cost;
  }
  /// Time that it has to sleep now; 0 for not yet.
  Time rest() const noexcept { return owed_ < least_sleep ? 0 : owed_; }
  void rested(Time time) noexcept { spend(time); }
  /// It woke `late` after the moment that it waited for.
  void woke_late(Time late) noexcept { lost_ += std::max<Time>(0, late - saves_); }

  /// The time that its work should have taken in all since the last call, and how much longer it took.
  std::pair<Time, Time> take_due_and_lost() noexcept { return {std::exchange(due_, 0), std::exchange(lost_, 0)}; }

 private:
  void spend(Time time) noexcept {
    owed_ -= time;
    if (owed_ >= -saves_) return;
    lost_ += -saves_ - owed_;
    owed_ = -saves_;
  }

  Time saves_ = most_saved;
  Time owed_ = 0;  ///< A negative amount is saved.
  Time due_ = 0;
  Time lost_ = 0;
};

}  // namespace penstock::cpu
