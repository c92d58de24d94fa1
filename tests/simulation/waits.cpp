// SPDX-License-Identifier: Apache-2.0
// Stands before the system's mutexes, condition variables, futexes, sleeps and clocks: fibers wait by them, in the time
// of the simulation. Outside of a run there is one thread, which waits for nothing.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

#include "chaos/delays.hpp"
#include "simulation/fiber.hpp"
#include "simulation/scheduler.hpp"
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

namespace {

using penstock::chaos::disturb;
using penstock::chaos::wakes_early;
using penstock::simulation::Fiber;
using penstock::simulation::running;
using penstock::simulation::wake;

constexpr std::uint64_t second = 1'000'000'000;
/// Seconds that the clocks show when a run begins.
constexpr std::uint64_t monotonic_start = 1'000;
constexpr std::uint64_t realtime_start = 1'700'000'000;
constexpr std::uint64_t no_time_seconds = std::uint64_t{1} << 33;

std::uint64_t start_of(clockid_t clock) noexcept {
  return (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? realtime_start : monotonic_start) * second;
}

std::uint64_t nanoseconds_of(timespec const& time) noexcept {
  if (time.tv_sec < 0) return 0;
  auto const seconds = static_cast<std::uint64_t>(time.tv_sec);
  return seconds >= no_time_seconds ? Fiber::never : seconds * second + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Returns when a wait ends, in the time of the run.
std::uint64_t until(clockid_t clock, timespec const* moment) noexcept {
  if (moment == nullptr) return Fiber::never;
  std::uint64_t const all = nanoseconds_of(*moment), start = start_of(clock);
  return all == Fiber::never ? Fiber::never : all - std::min(all, start);
}
std::uint64_t after(timespec const* span) noexcept {
  if (span == nullptr) return Fiber::never;
  std::uint64_t const all = nanoseconds_of(*span);
  return all == Fiber::never ? Fiber::never : penstock::simulation::now() + all;
}

// glibc's fields have glibc's meaning, but for `nusers`: the fibers that wait.

int lock_until(pthread_mutex_t* mutex, std::uint64_t deadline) noexcept {
  constexpr int kinds = 3;
  auto& state = mutex->__data;
  int const here = static_cast<int>(pthread_self());
  while (state.__lock != 0) {
    if (state.__owner == here && (state.__kind & kinds) == PTHREAD_MUTEX_RECURSIVE) return ++state.__count, 0;
    if (state.__owner == here && (state.__kind & kinds) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    if (deadline == 0) return EBUSY;
    ++state.__nusers;
    bool const woken = penstock::simulation::sleep_on(mutex, "a mutex", deadline);
    --state.__nusers;
    if (!woken && state.__lock != 0) return ETIMEDOUT;
  }
  state.__lock = 1;
  state.__owner = here;
  state.__count = 1;
  return 0;
}

void unlock(pthread_mutex_t* mutex) noexcept {
  auto& state = mutex->__data;
  if (--state.__count != 0) return;
  state.__lock = 0;
  state.__owner = 0;
  if (state.__nusers != 0) wake(mutex, 1);
}

/// No other fiber goes on between the release of the mutex and the sleep.
int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t deadline, void const* site) noexcept {
  disturb(site);
  bool const early = wakes_early();
  unlock(mutex);
  if (early) disturb(site);
  bool const woken = early || penstock::simulation::sleep_on(condition, "a condition variable", deadline);
  lock_until(mutex, Fiber::never);
  return woken ? 0 : ETIMEDOUT;
}

void sleep_until(std::uint64_t deadline) noexcept {
  static char const nothing = 0;
  while (penstock::simulation::sleep_on(&nothing, "the clock", deadline)) {
  }
}

long wait_on_futex(int const* word, int expected, std::uint64_t deadline) noexcept {
  if (wakes_early()) return 0;
  if (*word != expected) return errno = EAGAIN, -1;
  if (penstock::simulation::sleep_on(word, "a futex", deadline)) return 0;
  return errno = ETIMEDOUT, -1;
}

template <class Function>
Function* real(char const* name) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

#define SIMULATION_EXPORT extern "C" __attribute__((visibility("default")))
#define SIMULATION_SITE __builtin_return_address(0)

SIMULATION_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  disturb(SIMULATION_SITE);
  int const result = lock_until(mutex, Fiber::never);
  disturb(SIMULATION_SITE);
  return result;
}
SIMULATION_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  disturb(SIMULATION_SITE);
  return lock_until(mutex, 0);
}
SIMULATION_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, timespec const* moment) noexcept {
  disturb(SIMULATION_SITE);
  return lock_until(mutex, until(CLOCK_REALTIME, moment));
}
SIMULATION_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                              timespec const* moment) noexcept {
  disturb(SIMULATION_SITE);
  return lock_until(mutex, until(clock, moment));
}
SIMULATION_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  unlock(mutex);
  disturb(SIMULATION_SITE);
  return 0;
}

SIMULATION_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_until(condition, mutex, Fiber::never, SIMULATION_SITE);
}
SIMULATION_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                             timespec const* moment) {
  return wait_until(condition, mutex, until(CLOCK_REALTIME, moment), SIMULATION_SITE);
}
SIMULATION_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                             timespec const* moment) {
  return wait_until(condition, mutex, until(clock, moment), SIMULATION_SITE);
}
SIMULATION_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  disturb(SIMULATION_SITE);
  if (running()) wake(condition, 1);
  return 0;
}
SIMULATION_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  disturb(SIMULATION_SITE);
  if (running()) wake(condition, ~0U);
  return 0;
}

SIMULATION_EXPORT long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(rest, long);
  va_end(rest);
  if (number != SYS_futex || !running()) {
    static auto* const call = real<decltype(::syscall)>("syscall");
    return call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  }
  auto* const word = reinterpret_cast<int*>(arguments[0]);
  int const operation = static_cast<int>(arguments[1]);
  int const value = static_cast<int>(arguments[2]);
  auto const* const time = reinterpret_cast<timespec const*>(arguments[3]);
  disturb(SIMULATION_SITE);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: {
      bool const endless = penstock::chaos::endless_waits() && penstock::chaos::is_long(time);
      return wait_on_futex(word, value, endless ? Fiber::never : after(time));
    }
    case FUTEX_WAIT_BITSET:  // Its time is a moment, not a span.
      return wait_on_futex(word, value,
                           until((operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, time));
    case FUTEX_WAKE: {
      long const woken = wake(word, static_cast<unsigned>(value));
      disturb(SIMULATION_SITE);
      return woken;
    }
    default:
      std::abort();
  }
}

SIMULATION_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!running()) {
    static auto* const call = real<decltype(::clock_gettime)>("clock_gettime");
    return call(clock, time);
  }
  std::uint64_t const all = start_of(clock) + penstock::simulation::now();
  *time = {.tv_sec = static_cast<time_t>(all / second), .tv_nsec = static_cast<long>(all % second)};
  disturb(SIMULATION_SITE);
  return 0;
}

SIMULATION_EXPORT int gettimeofday(timeval* __restrict time, void* __restrict) noexcept {
  timespec exact{};
  int const result = clock_gettime(CLOCK_REALTIME, &exact);
  *time = {.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
  return result;
}

SIMULATION_EXPORT int nanosleep(timespec const* span, timespec*) {
  if (running()) sleep_until(after(span));
  return 0;
}

SIMULATION_EXPORT int clock_nanosleep(clockid_t clock, int flags, timespec const* time, timespec*) {
  if (running()) sleep_until((flags & TIMER_ABSTIME) != 0 ? until(clock, time) : after(time));
  return 0;
}
