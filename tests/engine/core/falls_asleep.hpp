// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace penstock {

/// True if a thread that calls `wait` again and again is found asleep on `word`; false if the call returned a thousand
/// times and it never was. `operation` is FUTEX_WAKE, with the flags that the wait has.
template <class Wait>
bool falls_asleep(std::atomic<std::uint32_t> const& word, int operation, Wait const& wait) {
  constexpr int enough = 1000;
  std::atomic<bool> woken{false};
  std::atomic<bool> returned{false};
  std::atomic<int> calls{0};
  // The system says how many it woke.
  auto const wake = [&] { return syscall(SYS_futex, &word, operation, 1, nullptr, nullptr, 0) == 1; };
  std::jthread const sleeper([&] {
    while (!woken && calls < enough) {
      wait();
      ++calls;
    }
    returned = true;
  });
  while (!woken && calls < enough) {
    woken = wake();
    if (!woken) std::this_thread::yield();
  }
  while (!returned) {  // It may have fallen asleep once more before it was told.
    wake();
    std::this_thread::yield();
  }
  return woken;
}

}  // namespace penstock
