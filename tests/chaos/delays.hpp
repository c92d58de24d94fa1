// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <time.h>

namespace penstock::chaos {

/// Starts a schedule: from here on threads are delayed as the seed says. What a thread does at each of its operations
/// follows from the seed, the number of the thread in the order of creation and the number of the operation; the order
/// among threads is still the system's.
///
/// With `endless_waits` a wait of 20 ms or more has no timeout, so that progress that rests on the timeout shows as a
/// hang.
///
/// Threads: one; no thread that an earlier schedule began may be at work.
void begin(std::uint64_t seed, bool endless_waits);
/// Ends the schedule: no thread is delayed any more.
void calm() noexcept;

/// The calling thread is never delayed.
void leave_this_thread_alone() noexcept;

/// Operations of all threads since the start of the process.
///
/// Threads: any.
std::uint64_t operations() noexcept;
/// True if long waits have no timeout by the present schedule.
bool endless_waits() noexcept;
/// Shorter waits keep their timeouts, since they are part of how a lane paces itself.
inline bool is_long(timespec const* timeout) noexcept {
  constexpr long shortest_endless_wait = 20'000'000;
  return timeout != nullptr && (timeout->tv_sec > 0 || timeout->tv_nsec >= shortest_endless_wait);
}
/// Returns what the schedule does, for a person.
std::string describe_schedule();

/// Is called by the runtime before and after each operation. `site` is the address that the call returns to.
void disturb(void const* site) noexcept;
/// Counts an operation.
void count_operation() noexcept;
/// True if this weak exchange is to fail.
bool fails_weakly() noexcept;
/// True if this wait is to return early.
bool wakes_early() noexcept;
/// The number of a thread that the calling thread creates now; `begin_thread` is what the new thread calls with it.
std::uint64_t number_for_thread() noexcept;
void begin_thread(std::uint64_t number) noexcept;

}  // namespace penstock::chaos
