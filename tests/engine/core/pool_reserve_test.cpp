// SPDX-License-Identifier: Apache-2.0
// A pool of which some tiles are lent only when they are needed.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;

/// Five tiles, of which the last two are the reserve. Every test must leave with all of them home.
template <int spin_us>
struct APoolWithAReserve : testing::Test {
  static constexpr std::size_t tiles = 5;
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  std::array<PoolPart, 1> cut{PoolPart{slab, tiles}};
  Pool pool{cut, {.input_bytes = 256}, std::chrono::microseconds(spin_us), 2};
  std::vector<Loan> held;

  void hold(std::size_t wanted) {
    for (std::size_t i = 0; i < wanted; ++i) held.push_back(pool.borrow());
  }
  std::vector<std::size_t> held_tiles() const {
    std::vector<std::size_t> indices;
    for (Loan const& loan : held) indices.push_back(loan->index());
    return indices;
  }
  void TearDown() override {
    held.clear();
    pool.open_reserve(true);
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
    EXPECT_EQ(pool.waiting(), 0U) << "a borrower is still queued";
    while (auto loan = pool.try_borrow()) held.push_back(std::move(*loan));
    EXPECT_EQ(held.size(), tiles) << "a tile is neither lent nor home";
  }
};
using APoolWithAReserveAndSleepers = APoolWithAReserve<0>;
using APoolWithAReserveAndAWatcher = APoolWithAReserve<1000>;

TEST_F(APoolWithAReserveAndSleepers, LendsFromItOnlyWhatElseIsNotHome) {
  hold(4);
  held.erase(held.begin());
  hold(1);
  EXPECT_THAT(held_tiles(), ElementsAre(1, 2, 3, 0)) << "tile 4 stays where it is";
}

TEST_F(APoolWithAReserveAndSleepers, KeepsWhatIsAndWhatComesHomeThereWhileItIsClosed) {
  hold(4);
  pool.open_reserve(false);
  EXPECT_FALSE(pool.try_borrow());
  held.pop_back();
  EXPECT_FALSE(pool.try_borrow()) << "tile 3 is home in the reserve";
  held.pop_back();
  hold(1);
  EXPECT_EQ(held.back()->index(), 2U);
}

/// Seen to fail if the thread that opens it serves no thread.
TEST_F(APoolWithAReserveAndSleepers, ServesThreadsThatSleepWhenItIsOpened) {
  pool.open_reserve(false);
  hold(3);
  std::vector<std::jthread> borrowers;
  for (int i = 0; i < 2; ++i) borrowers.emplace_back([&] { EXPECT_GE(pool.borrow()->index(), 3U); });
  while (pool.waiting() != 2) std::this_thread::yield();
  pool.open_reserve(true);
}

/// Seen to fail if what others overtook is lent without a look at the reserve.
TEST(APoolWithAClosedReserve, KeepsItsTilesAlsoFromASleeperThatAWatcherOvertakes) {
  constexpr std::size_t tiles = 200, reserve = 100;
  std::vector<std::byte> memory((tiles + 1) * 256);
  void* start = memory.data();
  std::size_t room = memory.size();
  std::align(256, tiles * 256, start, room);
  std::array<PoolPart, 1> const cut{PoolPart{{static_cast<std::byte*>(start), tiles * 256}, tiles}};
  Pool pool(cut, {.input_bytes = 256}, std::chrono::hours(1), reserve);
  std::vector<Loan> held;
  for (std::size_t i = 0; i < tiles; ++i) held.push_back(pool.borrow());
  pool.open_reserve(false);
  std::vector<std::jthread> borrowers;
  borrowers.emplace_back([&] { EXPECT_LT(pool.borrow()->index(), tiles - reserve); });
  while (!pool.watched()) std::this_thread::yield();
  borrowers.emplace_back([&] { EXPECT_LT(pool.borrow()->index(), tiles - reserve); });
  while (pool.waiting() != 1) std::this_thread::yield();
  while (held.size() > tiles - reserve) held.pop_back();
  EXPECT_EQ(pool.waiting(), 1U);
  EXPECT_EQ(pool.counts().home, 0U) << "what is kept is not free to be lent";
  EXPECT_EQ(pool.on_loan(), tiles - reserve);
  held.clear();
}

TEST(APoolOfSeveralParts, HasNoReserve) {
  alignas(256) std::array<std::byte, 256> first{}, second{};
  std::array<PoolPart, 2> const cut{PoolPart{first, 1}, PoolPart{second, 1}};
  Pool pool(cut, {.input_bytes = 256}, {}, 1);
  pool.open_reserve(false);
  Loan const one = pool.borrow();
  EXPECT_TRUE(pool.try_borrow());
}

/// Three borrow, and only the reserve has tiles. Seen to hang, with sleepers and with a watcher, if the thread that
/// opens it serves no thread.
template <class World>
void open_and_close(World& world) {
  constexpr int turns = 20'000;
  world.hold(3);
  std::atomic<int> borrowing{3};
  {
    std::vector<std::jthread> borrowers;
    for (int i = 0; i < 3; ++i) {
      borrowers.emplace_back([&] {
        for (int turn = 0; turn < turns; ++turn) {
          Loan const one = world.pool.borrow();
        }
        --borrowing;
      });
    }
    for (bool open = false; borrowing != 0; open = !open) {
      world.pool.open_reserve(open);
      std::this_thread::yield();
    }
    world.pool.open_reserve(true);
  }
}

TEST_F(APoolWithAReserveAndSleepers, LeavesNoThreadWaitingWhileItOpensAndCloses) {
  open_and_close(*this);
}

TEST_F(APoolWithAReserveAndAWatcher, LeavesNoThreadWaitingWhileItOpensAndCloses) {
  open_and_close(*this);
}

}  // namespace
}  // namespace penstock
