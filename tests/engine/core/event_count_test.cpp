// SPDX-License-Identifier: Apache-2.0
#include "engine/core/event_count.hpp"

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using namespace std::chrono_literals;

TEST(EventCount, DoesNotSleepThroughANotificationBetweenTheKeyAndTheWait) {
  EventCount bell;
  auto const key = bell.prepare();
  bell.notify();
  bell.wait(key, 1h);  // The test's time limit is the assertion.
}

TEST(EventCount, ReturnsFromAWaitThatNobodyEnds) {
  EventCount bell;
  auto const start = std::chrono::steady_clock::now();
  EXPECT_FALSE(bell.await([] { return false; }, 0ns, 2ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
}

/// The standard's atomics, but a wait only notes how long it may last.
struct NotedWaits : StandardAtomics {
  static inline std::chrono::nanoseconds longest;
  static void wait(Atomic<std::uint32_t> const&, std::uint32_t, std::chrono::nanoseconds at_most) noexcept {
    longest = std::max(longest, at_most);
  }
};

TEST(EventCount, SleepsNoLongerThanWhatIsLeftOfItsTime) {
  BasicEventCount<NotedWaits> bell;
  auto const look_until_the_clock_moves = [] {
    for (auto const asked = Clock::now(); Clock::now() == asked;) {
    }
    return false;
  };
  NotedWaits::longest = 0ns;
  EXPECT_FALSE(bell.await(look_until_the_clock_moves, 0ns, 1ms));
  EXPECT_LT(NotedWaits::longest, 1ms);
}

TEST(EventCount, AsksOnceMoreBeforeItGivesUp) {
  EventCount bell;
  int asked = 0;
  EXPECT_TRUE(bell.await([&] { return ++asked == 2; }, 0ns, 0ns));
}

TEST(EventCount, WakesEveryWaiter) {
  EventCount bell;
  std::atomic<bool> open{false};
  std::vector<std::jthread> sleepers;
  for (int i = 0; i < 2; ++i) {
    sleepers.emplace_back([&] { EXPECT_TRUE(bell.await([&] { return open.load(); }, 0ns, 1h)); });
    sleepers.emplace_back([&] { bell.await([&] { return open.load(); }); });
  }
  open = true;
  bell.notify();
}

/// Two threads hand a token back and forth; one lost wake-up and the test runs into its time limit.
void ping_pong(std::chrono::nanoseconds spin) {
  constexpr int rounds = 20'000;
  EventCount bells[2];
  std::atomic<int> turn{0};
  auto const play = [&](int self) {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_TRUE(bells[self].await([&] { return turn.load(std::memory_order_relaxed) % 2 == self; }, spin, 1h));
      turn.fetch_add(1, std::memory_order_relaxed);
      bells[1 - self].notify();
    }
  };
  std::jthread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), 2 * rounds);
}

TEST(EventCount, LosesNoWakeUpWhenEveryWaitSleeps) {
  ping_pong(0ns);
}
TEST(EventCount, LosesNoWakeUpWhenWaitsSpinFirst) {
  ping_pong(20us);
}

}  // namespace
}  // namespace penstock
