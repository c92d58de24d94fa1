// SPDX-License-Identifier: Apache-2.0
// Stands before the system's mutexes, condition variables, futexes and thread creation in the chaos build: delays
// around each, and waits that return early.
#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "chaos/delays.hpp"
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

namespace {

using penstock::chaos::count_operation;
using penstock::chaos::disturb;
using penstock::chaos::wakes_early;

/// The system's own function of that name.
template <class Function>
Function* real(char const* name) noexcept {
  void* found = nullptr;
#if defined(__x86_64__)
  // An older one without this version has the same name.
  if (__builtin_strncmp(name, "pthread_cond_", 13) == 0) found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

#define CHAOS_REAL(name)                                    \
  (*[] {                                                    \
    static auto* const found = real<decltype(name)>(#name); \
    return found;                                           \
  }())
#define CHAOS_SITE __builtin_return_address(0)

/// The caller has released and got back the mutex, as by a wait, but for no reason.
int return_early(pthread_mutex_t* mutex, void const* site) noexcept {
  CHAOS_REAL(pthread_mutex_unlock)(mutex);
  disturb(site);
  return CHAOS_REAL(pthread_mutex_lock)(mutex);
}

struct Start {
  void* (*body)(void*);
  void* argument;
  std::uint64_t number;
};

void* start_thread(void* given) {
  Start const start = *static_cast<Start*>(given);
  std::free(given);
  penstock::chaos::begin_thread(start.number);
  return start.body(start.argument);
}

}  // namespace

#define CHAOS_EXPORT extern "C" __attribute__((visibility("default")))

CHAOS_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  disturb(CHAOS_SITE);
  int const result = CHAOS_REAL(pthread_mutex_lock)(mutex);
  count_operation();
  disturb(CHAOS_SITE);
  return result;
}

CHAOS_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  int const result = CHAOS_REAL(pthread_mutex_unlock)(mutex);
  disturb(CHAOS_SITE);
  return result;
}

CHAOS_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  disturb(CHAOS_SITE);
  count_operation();
  if (wakes_early()) return return_early(mutex, CHAOS_SITE);
  return CHAOS_REAL(pthread_cond_wait)(condition, mutex);
}

CHAOS_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, timespec const* until) {
  disturb(CHAOS_SITE);
  count_operation();
  if (wakes_early()) return return_early(mutex, CHAOS_SITE);
  return CHAOS_REAL(pthread_cond_timedwait)(condition, mutex, until);
}

CHAOS_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  disturb(CHAOS_SITE);
  count_operation();
  return CHAOS_REAL(pthread_cond_signal)(condition);
}

CHAOS_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  disturb(CHAOS_SITE);
  count_operation();
  return CHAOS_REAL(pthread_cond_broadcast)(condition);
}

CHAOS_EXPORT int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*body)(void*),
                                void* argument) noexcept {
  auto* const start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  *start = {body, argument, penstock::chaos::number_for_thread()};
  int const result = CHAOS_REAL(pthread_create)(thread, attributes, start_thread, start);
  if (result != 0) std::free(start);
  disturb(CHAOS_SITE);
  return result;
}

CHAOS_EXPORT long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(rest, long);
  va_end(rest);
  auto const call = [&] {
    return CHAOS_REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                               arguments[5]);
  };
  if (number != SYS_futex) return call();
  int const command = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
  bool const waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  disturb(CHAOS_SITE);
  count_operation();
  if (waits && wakes_early()) return 0;
  // FUTEX_WAIT_BITSET is given a moment, not a span.
  if (command == FUTEX_WAIT && penstock::chaos::endless_waits() &&
      penstock::chaos::is_long(reinterpret_cast<timespec const*>(arguments[3]))) {
    arguments[3] = 0;
  }
  long const result = call();
  disturb(CHAOS_SITE);
  return result;
}
