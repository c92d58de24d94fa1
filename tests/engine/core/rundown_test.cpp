// SPDX-License-Identifier: Apache-2.0
#include "engine/core/rundown.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Rundown, LetsInWhileItIsOpenAndNobodyElse) {
  Rundown rundown(false);
  EXPECT_FALSE(Rundown::Pass(rundown));
  rundown.open();
  EXPECT_TRUE(Rundown::Pass(rundown));
  EXPECT_TRUE(rundown.close());
  EXPECT_FALSE(rundown.close()) << "it was closed";
  EXPECT_FALSE(Rundown::Pass(rundown));
  rundown.open();
  EXPECT_TRUE(Rundown::Pass(rundown));
}

TEST(Rundown, ClosesOnlyOnceTheLastHasLeft) {
  Rundown rundown(true);
  std::atomic<bool> left{false};
  std::optional<Rundown::Pass> in(std::in_place, rundown);
  ASSERT_TRUE(*in);
  std::jthread const closing([&] {
    EXPECT_TRUE(rundown.close());
    EXPECT_TRUE(left.load());
  });
  while (Rundown::Pass(rundown)) std::this_thread::yield();  // Waits until it is closing.
  left.store(true);
  in.reset();
}

/// A thread that is in adds to what none may touch once it is closed; more threads than there are counts.
TEST(Rundown, HasNobodyInsideOnceItIsClosed) {
  constexpr int threads = 24;
  constexpr int rounds = 200;
  Rundown rundown(false);
  std::atomic<int> inside{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> coming;
  for (int k = 0; k < threads; ++k) {
    coming.emplace_back([&] {
      while (!over.load(std::memory_order_relaxed)) {
        Rundown::Pass const in(rundown);
        if (!in) {
          std::this_thread::yield();
          continue;
        }
        inside.fetch_add(1, std::memory_order_relaxed);
        inside.fetch_sub(1, std::memory_order_relaxed);
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    rundown.open();
    std::this_thread::yield();
    EXPECT_TRUE(rundown.close());
    EXPECT_EQ(inside.load(std::memory_order_relaxed), 0) << "in round " << round;
  }
  over.store(true);
}

}  // namespace
}  // namespace penstock
