// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/mailbox.hpp"

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Mailbox, KeepsOneWritersOrder) {
  Mailbox<int> box(3);
  EXPECT_TRUE(box.push(1));
  EXPECT_TRUE(box.push(2));
  EXPECT_EQ(box.pop(), 1);
  EXPECT_EQ(box.pop(), 2);
  EXPECT_EQ(box.pop(), std::nullopt);
  EXPECT_TRUE(box.empty());
}

TEST(Mailbox, SaysWhenItIsFullAndTakesMoreOnceRead) {
  Mailbox<int> box(2);
  EXPECT_TRUE(box.push(1));
  EXPECT_TRUE(box.push(2));
  EXPECT_FALSE(box.push(3));
  EXPECT_EQ(box.pop(), 1);
  EXPECT_TRUE(box.push(4));
}

TEST(Mailbox, HoldsTheMostItemsItPromises) {
  Mailbox<std::uint32_t> box(Mailbox<std::uint32_t>::max_capacity);
  std::uint32_t put = 0;
  while (box.push(put)) ++put;
  EXPECT_EQ(put, 65'534u);
}

TEST(Mailbox, RefusesACapacityItCannotHave) {
  EXPECT_THROW(Mailbox<int>(0), Error);
  EXPECT_THROW(Mailbox<int>(65'535), Error);
}

TEST(Mailbox, DeliversEveryItemOfManyWritersOnceAndInEachWritersOrder) {
  constexpr std::uint32_t writers = 4, each = 20'000;
  Mailbox<std::uint32_t> box(64);
  std::vector<std::uint32_t> next(writers, 0);
  std::vector<std::jthread> threads;
  for (std::uint32_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&box, writer] {
      for (std::uint32_t i = 0; i < each; ++i) {
        while (!box.push(writer << 24 | i)) std::this_thread::yield();
      }
    });
  }
  for (std::uint32_t got = 0; got < writers * each;) {
    auto const item = box.pop();
    if (!item) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(*item & 0xff'ffff, next.at(*item >> 24)++) << "lost, doubled or out of order";
    ++got;
  }
  EXPECT_EQ(box.pop(), std::nullopt);
}

}  // namespace
}  // namespace penstock
