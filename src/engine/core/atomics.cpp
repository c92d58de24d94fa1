// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomics.hpp"

#include <algorithm>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/host_time.hpp"
#include "penstock/clock.hpp"

namespace penstock {
namespace {

// A futex and not std::atomic::wait: the latter cannot time out, and a lane must look after its device now and then.
void futex(std::atomic<std::uint32_t> const& word, int operation, std::uint32_t value,
           timespec const* timeout) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

void StandardAtomics::wait(Atomic<std::uint32_t> const& word, std::uint32_t expected,
                           std::chrono::nanoseconds at_most) noexcept {
  using namespace std::chrono;
  // Longer waits are cut to an hour, so that no clock arithmetic overflows; the caller looks again anyway.
  auto const span = std::clamp(Clock::real(at_most), nanoseconds{0}, nanoseconds{1h});
  auto const whole = duration_cast<seconds>(span);
  timespec const timeout{.tv_sec = whole.count(), .tv_nsec = (span - whole).count()};
  HostTime::pay();
  futex(word, FUTEX_WAIT, expected, &timeout);
}

void StandardAtomics::wake_all(Atomic<std::uint32_t> const& word) noexcept {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

std::size_t StandardAtomics::number_of_thread() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local std::size_t const number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace penstock
