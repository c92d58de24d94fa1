// SPDX-License-Identifier: Apache-2.0
// Stands before the system's functions for threads: fibers take their place. What is called outside of a run, as by the
// libraries while the program starts, finds one thread.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "chaos/delays.hpp"
#include "simulation/fiber.hpp"
#include "simulation/scheduler.hpp"
#include <pthread.h>
#include <sched.h>

#define SIMULATION_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using penstock::chaos::disturb;
using penstock::simulation::Fiber;
using penstock::simulation::running;

constexpr pthread_t only_thread = 1;
constexpr std::uint32_t cpus = 4;
static_assert(Fiber::all_cpus == (std::uint64_t{1} << cpus) - 1);

}  // namespace

SIMULATION_EXPORT int pthread_create(pthread_t* thread, pthread_attr_t const*, void* (*body)(void*),
                                     void* argument) noexcept {
  Fiber* const made = running() ? penstock::simulation::start_fiber(body, argument) : nullptr;
  if (made == nullptr) return EAGAIN;
  *thread = made->number;
  disturb(__builtin_return_address(0));
  return 0;
}

SIMULATION_EXPORT int pthread_join(pthread_t thread, void** result) {
  Fiber* const joined = running() ? penstock::simulation::fiber_of(thread) : nullptr;
  if (joined == nullptr) return ESRCH;
  disturb(__builtin_return_address(0));
  while (joined->state != Fiber::State::ended) {
    penstock::simulation::sleep_on(joined, "the end of a thread", Fiber::never);
  }
  if (result != nullptr) *result = joined->result;
  penstock::simulation::forget(*joined);
  return 0;
}

SIMULATION_EXPORT int pthread_detach(pthread_t thread) noexcept {
  Fiber* const fiber = running() ? penstock::simulation::fiber_of(thread) : nullptr;
  if (fiber == nullptr) return ESRCH;
  fiber->detached = true;
  if (fiber->state == Fiber::State::ended) penstock::simulation::forget(*fiber);
  return 0;
}

SIMULATION_EXPORT pthread_t pthread_self() noexcept {
  return running() ? penstock::simulation::here().number : only_thread;
}

SIMULATION_EXPORT int pthread_setname_np(pthread_t thread, char const* name) noexcept {
  Fiber* const fiber = running() ? penstock::simulation::fiber_of(thread) : nullptr;
  if (fiber == nullptr) return ESRCH;
  std::snprintf(fiber->name.data(), fiber->name.size(), "%s", name);
  return 0;
}

SIMULATION_EXPORT int pthread_getname_np(pthread_t thread, char* name, size_t room) noexcept {
  Fiber* const fiber = running() ? penstock::simulation::fiber_of(thread) : nullptr;
  if (fiber == nullptr) return ESRCH;
  std::snprintf(name, room, "%s", fiber->name.data());
  return 0;
}

SIMULATION_EXPORT int pthread_once(pthread_once_t* once, void (*routine)()) {
  enum : pthread_once_t { fresh = PTHREAD_ONCE_INIT, under_way = 1, done = 2 };
  while (*once == under_way) penstock::simulation::sleep_on(once, "the end of a call that is made once", Fiber::never);
  if (*once == done) return 0;
  *once = under_way;
  try {
    routine();
  } catch (...) {
    *once = fresh;
    penstock::simulation::wake(once, ~0U);
    throw;
  }
  *once = done;
  penstock::simulation::wake(once, ~0U);
  disturb(__builtin_return_address(0));
  return 0;
}

SIMULATION_EXPORT int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) noexcept {
  if (!running()) return 0;  // The process ends without them.
  Fiber& here = penstock::simulation::here();
  here.at_end = new (std::nothrow) Fiber::AtEnd{destroy, object, here.at_end};
  return 0;
}

SIMULATION_EXPORT int sched_yield() noexcept {
  if (running()) penstock::simulation::yield();
  return 0;
}

SIMULATION_EXPORT int sched_getcpu() noexcept {
  return running() ? static_cast<int>(penstock::simulation::here().number % cpus) : 0;
}

// Fibers have the CPUs that they ask for, and no more is made of it.

SIMULATION_EXPORT int sched_setaffinity(pid_t, size_t bytes, cpu_set_t const* set) noexcept {
  if (running()) std::memcpy(&penstock::simulation::here().cpus, set, std::min(bytes, sizeof(Fiber::cpus)));
  return 0;
}

SIMULATION_EXPORT int sched_getaffinity(pid_t, size_t bytes, cpu_set_t* set) noexcept {
  std::memset(set, 0, bytes);
  std::uint64_t const all = running() ? penstock::simulation::here().cpus : Fiber::all_cpus;
  std::memcpy(set, &all, std::min(bytes, sizeof all));
  return 0;
}
