// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/one_way_queue.hpp"

#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(OneWayQueue, GivesWhatCameFirstAndSaysWhenItIsFull) {
  OneWayQueue<int, 2> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.pop());
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_FALSE(queue.push(3));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.front(), 1);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_TRUE(queue.push(3));
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), 3);
  EXPECT_TRUE(queue.empty());
}

TEST(OneWayQueue, DeliversEveryItemOnceAndInOrderFromOneThreadToAnother) {
  constexpr std::uint32_t items = 200'000;
  OneWayQueue<std::uint32_t, 4> queue;
  std::jthread const writer([&] {
    for (std::uint32_t i = 0; i < items; ++i) {
      while (!queue.push(i)) std::this_thread::yield();
    }
  });
  for (std::uint32_t i = 0; i < items; ++i) {
    while (queue.empty()) std::this_thread::yield();
    ASSERT_EQ(queue.front(), i);
    ASSERT_EQ(queue.pop(), i);
  }
}

}  // namespace
}  // namespace penstock
