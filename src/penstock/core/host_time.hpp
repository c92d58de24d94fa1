// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "penstock/clock.hpp"

namespace penstock {

/// Lets the work of host threads take as long on a slower Clock as it takes on the system's.
///
/// Where the clock is slower by a factor, a thread that computes for 1 us seems to take a fraction of that. So each
/// thread pays for the time that it had the CPU: it sleeps until that time has passed on the Clock too. Sleeping
/// threads need no CPU, so a few CPUs can stand for many. Nothing here costs more than a look at the factor where that
/// is 1.
///
/// Threads: each has its own account.
class HostTime {
 public:
  /// Sleeps until the CPU time that the calling thread used since it last paid has passed on the Clock. For the end of
  /// a piece of work, under the locks that the work itself needs and no others.
  ///
  /// Blocks: until what is owed is paid, if that is more than some microseconds.
  static void pay() noexcept {
    if (Clock::slower() != 1) pay_for_work();
  }
  /// What the calling thread did since it last paid costs nothing: it waited, or did what is no host's work.
  static void forget() noexcept;
  /// The call of a modelled device that began at `begin_call` costs `cost`, whatever it really took. `begin_call` pays
  /// for the work before it.
  ///
  /// Blocks: as `pay`.
  static void begin_call() noexcept;
  static void end_call(std::chrono::nanoseconds cost) noexcept;
  /// Pays, and sleeps until then.
  static void wait_until(Clock::time_point when) noexcept;
  /// Pays, and sleeps for a moment that costs nothing: a turn of a loop that waits awake.
  static void nap() noexcept;

  /// For how long the calling thread has had a CPU so far. On a slower Clock it has one of the modelled machine for all
  /// the time that passes, but for its waits and what it forgets.
  ///
  /// Units:   time of Clock.
  /// Blocks:  as `pay`.
  static std::chrono::nanoseconds cpu_time() noexcept;

  /// By what part the work of all threads took longer than it should, because threads waited for CPUs: this machine is
  /// too slow for its clock. Since it was last asked for; 0 if they did no work.
  ///
  /// Threads: any.
  static double take_lost_part() noexcept;

 private:
  static void pay_for_work() noexcept;
};

}  // namespace penstock
