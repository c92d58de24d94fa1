// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/core/atomics.hpp"
#include "engine/core/host_time.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Lets a thread sleep until another one has changed something, without a lock around that something.
///
/// The thread that waits takes a key, looks once more at what it waits for, and only then sleeps on the key. The thread
/// that changes something notifies afterwards. A change between the key and the sleep makes the sleep return at once.
///
/// Threads: any.
template <class Atomics = StandardAtomics>
class BasicEventCount {
 public:
  class Key {
    friend class BasicEventCount;
    std::uint32_t epoch_;
  };

  /// Announces a wait. Follow with exactly one of `cancel` and `wait`.
  Key prepare() noexcept {
    // Both seq_cst, as in notify: either the notifier sees this waiter counted, or the waiter sees the new epoch and
    // all that the notifier wrote before.
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    Key key;
    key.epoch_ = epoch_.load(std::memory_order_seq_cst);
    return key;
  }
  void cancel() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  /// Sleeps until notified after `key` was taken, or for about `at_most`. May return early for no reason.
  ///
  /// Blocks: yes.
  void wait(Key key, std::chrono::nanoseconds at_most) noexcept {
    Atomics::wait(epoch_, key.epoch_, at_most);
    waiters_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Wakes all that wait. Costs two atomic operations when no thread waits.
  void notify() noexcept {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) != 0) Atomics::wake_all(epoch_);
  }

  /// Returns once `ready()` is true or `at_most` has passed: spins for `spin` first, then sleeps. Returns what
  /// `ready()` said last.
  ///
  /// Blocks: yes.
  template <class Ready>
  bool await(Ready ready, std::chrono::nanoseconds spin, std::chrono::nanoseconds at_most);
  /// Sleeps until `ready()` is true.
  ///
  /// Blocks: yes.
  template <class Ready>
  void await(Ready ready) {
    while (!await(ready, std::chrono::nanoseconds::zero(), std::chrono::hours(1))) {
    }
  }

 private:
  typename Atomics::template Atomic<std::uint32_t> epoch_{0};
  typename Atomics::template Atomic<std::uint32_t> waiters_{0};
};

using EventCount = BasicEventCount<>;

/// Tells the processor that this is a spin loop; where the clock is slower, the thread sleeps for a moment instead.
inline void relax_cpu() noexcept {
  if (HostTime::nap()) return;
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Atomics>
template <class Ready>
bool BasicEventCount<Atomics>::await(Ready ready, std::chrono::nanoseconds spin, std::chrono::nanoseconds at_most) {
  if (ready()) return true;
  auto const start = Clock::now();
  auto const elapsed = [&] { return std::chrono::nanoseconds(Clock::now() - start); };
  while (elapsed() < spin) {
    // Sixteen pauses between looks at the clock, which costs about as much as one of them.
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      relax_cpu();
    }
  }
  while (elapsed() < at_most) {
    Key const key = prepare();
    if (ready()) {
      cancel();
      return true;
    }
    wait(key, at_most - elapsed());
  }
  return ready();
}

}  // namespace penstock
