// SPDX-License-Identifier: Apache-2.0
#include "records/late_watch.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "support/thread_state.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Seen to fail if a thread that has slept without anything to watch counts as asleep from then on.
TEST(ALateWatch, IsWokenByTheFirstItemAndByNoneBehindIt) {
  BasicLateWatch<> watch;
  std::atomic<pid_t> id{0};
  std::atomic<unsigned> looks_with_an_item{0};
  std::atomic<bool> item{false};
  std::jthread const clock([&] {
    id = ::gettid();
    watch.watch([&](Clock::time_point now) -> std::optional<Clock::time_point> {
      if (!item) return std::nullopt;
      ++looks_with_an_item;
      return now + std::chrono::hours(24);
    });
  });
  while (id == 0) std::this_thread::yield();
  support::await_asleep(id);
  item = true;
  watch.wake();
  while (looks_with_an_item == 0) std::this_thread::yield();
  support::await_asleep(id);
  auto const slept = support::times_asleep(id);
  for (int i = 0; i < 4; ++i) {
    watch.wake();
    support::await_asleep(id);  // Once more, if it was woken.
  }
  // A thread that is about to sleep seems asleep a moment before that is counted.
  EXPECT_LE(support::times_asleep(id) - slept, 1U);
  watch.end();
}

}  // namespace
}  // namespace penstock
