// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <pthread.h>

namespace penstock::simulation {

struct Fiber;

// Parts of the simulated calls of the system. All are for fibers, within a run.

Fiber& here() noexcept;
/// A new fiber; null if there are too many.
Fiber* start_fiber(void* (*body)(void*), void* argument) noexcept;
/// The fiber with this number; null if it has ended and was joined, or never was.
Fiber* fiber_of(pthread_t number) noexcept;
/// Sleeps until `wake` with this key, or the deadline. Returns true if it was woken.
bool sleep_on(void const* key, char const* what, std::uint64_t deadline) noexcept;
/// Wakes up to so many fibers that sleep on the key, in an order that is drawn. Returns how many.
unsigned wake(void const* key, unsigned most) noexcept;
/// Lets another fiber go on, if one can.
void yield() noexcept;
/// Ends the calling fiber; another one goes on.
[[noreturn]] void end_fiber(void* result) noexcept;
/// Forgets a fiber that has ended.
void forget(Fiber& fiber) noexcept;

/// Nanoseconds since the beginning of the run; it goes on by some with each call.
std::uint64_t now() noexcept;

}  // namespace penstock::simulation
