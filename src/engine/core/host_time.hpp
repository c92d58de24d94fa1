// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

#include "penstock/clock.hpp"

namespace penstock {

/// Lets the work of host threads take as long on a slower Clock as it takes on the system's. The models of GPUs bring
/// one (models/host_keeper.hpp).
///
/// Threads: each has its own account.
class HostKeeper {
 public:
  HostKeeper(HostKeeper const&) = delete;
  HostKeeper& operator=(HostKeeper const&) = delete;
  virtual void pay() noexcept = 0;
  virtual void forget() noexcept = 0;
  virtual void end_call(std::chrono::nanoseconds cost) noexcept = 0;
  virtual void nap() noexcept = 0;
  virtual std::chrono::nanoseconds cpu_time() noexcept = 0;
  virtual double take_lost_part() noexcept = 0;

 protected:
  HostKeeper() = default;
  ~HostKeeper() = default;
};

/// Calls by which host threads report to the HostKeeper. Where the clock is not slower there is no keeper, and a call
/// only reads the factor.
///
/// Where the clock is slower by a factor, a thread that computes for 1 us seems to take a fraction of that. So each
/// thread pays for the time that it had the CPU: it sleeps until that time has passed on the Clock too. Sleeping
/// threads need no CPU, so a few CPUs can stand for many.
///
/// Threads: each has its own account.
class HostTime {
 public:
  /// Makes `keeper` keep the time of host threads, as soon as the Clock is slower. It must live as long as the process.
  ///
  /// Threads: any, before the Clock is slower.
  static void keep_by(HostKeeper& keeper) noexcept { keeper_.store(&keeper, std::memory_order_relaxed); }

  /// Sleeps until the CPU time that the calling thread used since it last paid has passed on the Clock. Call it at the
  /// end of a piece of work, under the locks that the work itself needs and no others.
  ///
  /// Blocks: until what is owed is paid, if that is more than some microseconds.
  static void pay() noexcept {
    if (HostKeeper* const keeper = keeping()) keeper->pay();
  }
  /// Charges nothing for what the calling thread did since it last paid: it waited, or did what is no host's work.
  static void forget() noexcept {
    if (HostKeeper* const keeper = keeping()) keeper->forget();
  }
  /// The call of a modelled device that began at `begin_call` costs `cost`, whatever it really took. `begin_call` pays
  /// for the work before it.
  ///
  /// Blocks: as `pay`.
  static void begin_call() noexcept { pay(); }
  static void end_call(std::chrono::nanoseconds cost) noexcept {
    if (HostKeeper* const keeper = keeping()) keeper->end_call(cost);
  }
  /// True if it paid, and slept for a moment that costs nothing: a turn of a loop that waits awake.
  static bool nap() noexcept {
    HostKeeper* const keeper = keeping();
    if (keeper != nullptr) keeper->nap();
    return keeper != nullptr;
  }

  /// Time that the calling thread has had a CPU so far. On a slower Clock it has one of the modelled machine for all
  /// the time that passes, except its waits and what it forgets.
  ///
  /// Units:   time of Clock.
  /// Blocks:  as `pay`.
  static std::chrono::nanoseconds cpu_time() noexcept {
    if (HostKeeper* const keeper = keeping()) return keeper->cpu_time();
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }

  /// The part by which the work of all threads took longer than it should, because threads waited for CPUs: this
  /// machine is too slow for its clock. It counts from the last call; 0 if the threads did no work.
  ///
  /// Threads: any.
  static double take_lost_part() noexcept {
    HostKeeper* const keeper = keeping();
    return keeper != nullptr ? keeper->take_lost_part() : 0;
  }

 private:
  /// Null where the clock is not slower, or nothing keeps the time of the host.
  static HostKeeper* keeping() noexcept {
    return Clock::slower() == 1 ? nullptr : keeper_.load(std::memory_order_relaxed);
  }

  // Relaxed: a thread that sees the factor of the Clock also sees the keeper.
  static inline std::atomic<HostKeeper*> keeper_{nullptr};
};

}  // namespace penstock
