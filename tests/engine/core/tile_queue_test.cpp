// SPDX-License-Identifier: Apache-2.0
#include "engine/core/tile_queue.hpp"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(TileQueue, GivesBackWhatCameFirst) {
  for (std::uint32_t const tiles : {1U, 3U, 4U}) {
    TileQueue queue(tiles);
    EXPECT_TRUE(queue.empty());
    EXPECT_FALSE(queue.pop());
    for (int lap = 0; lap < 5; ++lap) {
      for (std::uint32_t i = 0; i < tiles; ++i) queue.push(i);
      EXPECT_FALSE(queue.empty());
      for (std::uint32_t i = 0; i < tiles; ++i) EXPECT_EQ(queue.pop(), i);
      EXPECT_TRUE(queue.empty());
      EXPECT_FALSE(queue.pop());
    }
  }
}

TEST(TileQueue, GoesOnWhereItIsInTheMiddleOfALap) {
  TileQueue queue(3);
  for (std::uint32_t i = 0; i < 2; ++i) queue.push(i);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    auto const first = queue.pop();
    ASSERT_EQ(first, i % 2);
    queue.push(*first);
  }
}

/// Few tiles and many threads, so that each place is used over and over. Seen to fail if a thread that read another
/// lap's word may claim a place.
TEST(TileQueue, HasEachTileOnceThoughManyPushAndPop) {
  constexpr std::uint32_t tiles = 3;
  constexpr int threads = 4, rounds = 20'000;
  TileQueue queue(tiles);
  std::vector<std::atomic<int>> holders(tiles);
  for (std::uint32_t i = 0; i < tiles; ++i) queue.push(i);
  std::atomic<int> twice{0};
  std::latch all_there(threads);
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&] {
        all_there.arrive_and_wait();
        for (int i = 0; i < rounds; ++i) {
          auto const tile = queue.pop();
          if (!tile) continue;
          if (holders.at(*tile).fetch_add(1) != 0) ++twice;
          holders.at(*tile).fetch_sub(1);
          queue.push(*tile);
        }
      });
    }
  }
  EXPECT_EQ(twice, 0) << "two hold one tile";
  std::vector<int> left(tiles, 0);
  while (auto const tile = queue.pop()) ++left.at(*tile);
  EXPECT_EQ(left, std::vector<int>(tiles, 1));
}

}  // namespace
}  // namespace penstock
