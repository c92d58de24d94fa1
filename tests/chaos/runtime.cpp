// SPDX-License-Identifier: Apache-2.0
// Stands behind the calls of -fsanitize=thread in the chaos build, instead of the sanitizer's own runtime. The
// sources are compiled with that flag and linked without it. Atomic operations are done as asked, in the strongest
// order, with delays around them; weak exchanges may fail; plain accesses are left alone.
#include <cstdint>

#include "chaos/delays.hpp"

namespace {

using penstock::chaos::count_operation;
using penstock::chaos::disturb;
using penstock::chaos::fails_weakly;

template <class Operation>
[[gnu::always_inline]] inline auto disturbed(void const* site, Operation operation) noexcept {
  disturb(site);
  auto const result = operation();
  count_operation();
  disturb(site);
  return result;
}

}  // namespace

#define CHAOS_SITE __builtin_return_address(0)
#define CHAOS_FETCH(bits, type, name)                                                           \
  type __tsan_atomic##bits##_##name(type volatile* at, type value, int) {                       \
    return disturbed(CHAOS_SITE, [&] { return __atomic_##name(at, value, __ATOMIC_SEQ_CST); }); \
  }
#define CHAOS_ATOMICS(bits, type)                                                                               \
  type __tsan_atomic##bits##_load(type const volatile* at, int) {                                               \
    return disturbed(CHAOS_SITE, [&] { return __atomic_load_n(at, __ATOMIC_SEQ_CST); });                        \
  }                                                                                                             \
  void __tsan_atomic##bits##_store(type volatile* at, type value, int) {                                        \
    disturbed(CHAOS_SITE, [&] { return __atomic_store_n(at, value, __ATOMIC_SEQ_CST), 0; });                    \
  }                                                                                                             \
  type __tsan_atomic##bits##_exchange(type volatile* at, type value, int) {                                     \
    return disturbed(CHAOS_SITE, [&] { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); });             \
  }                                                                                                             \
  CHAOS_FETCH(bits, type, fetch_add)                                                                            \
  CHAOS_FETCH(bits, type, fetch_sub)                                                                            \
  CHAOS_FETCH(bits, type, fetch_and)                                                                            \
  CHAOS_FETCH(bits, type, fetch_or)                                                                             \
  CHAOS_FETCH(bits, type, fetch_xor)                                                                            \
  CHAOS_FETCH(bits, type, fetch_nand)                                                                           \
  bool __tsan_atomic##bits##_compare_exchange_strong(type volatile* at, type* expected, type value, int, int) { \
    return disturbed(CHAOS_SITE, [&] {                                                                          \
      return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    });                                                                                                         \
  }                                                                                                             \
  bool __tsan_atomic##bits##_compare_exchange_weak(type volatile* at, type* expected, type value, int, int) {   \
    return disturbed(CHAOS_SITE, [&] {                                                                          \
      if (fails_weakly()) return *expected = __atomic_load_n(at, __ATOMIC_SEQ_CST), false;                      \
      return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    });                                                                                                         \
  }                                                                                                             \
  type __tsan_atomic##bits##_compare_exchange_val(type volatile* at, type expected, type value, int, int) {     \
    return disturbed(CHAOS_SITE, [&] {                                                                          \
      __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
      return expected;                                                                                          \
    });                                                                                                         \
  }
#define CHAOS_ACCESSES(bytes)                  \
  void __tsan_read##bytes(void*) {}            \
  void __tsan_write##bytes(void*) {}           \
  void __tsan_unaligned_read##bytes(void*) {}  \
  void __tsan_unaligned_write##bytes(void*) {} \
  void __tsan_volatile_read##bytes(void*) {}   \
  void __tsan_volatile_write##bytes(void*) {}

// The names are the compiler's.
extern "C" {

CHAOS_ATOMICS(8, std::uint8_t)
CHAOS_ATOMICS(16, std::uint16_t)
CHAOS_ATOMICS(32, std::uint32_t)
CHAOS_ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) {
  disturbed(CHAOS_SITE, [] { return __atomic_thread_fence(__ATOMIC_SEQ_CST), 0; });
}
void __tsan_atomic_signal_fence(int) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

CHAOS_ACCESSES(1)
CHAOS_ACCESSES(2)
CHAOS_ACCESSES(4)
CHAOS_ACCESSES(8)
CHAOS_ACCESSES(16)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void*, unsigned long) {}
void __tsan_write_range(void*, unsigned long) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

}  // extern "C"
