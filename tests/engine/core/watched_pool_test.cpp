// SPDX-License-Identifier: Apache-2.0
// A pool whose borrowers watch before they sleep; engine/core/pool_watch.pml has every order of their steps.
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/mailbox.hpp"
#include "engine/core/pool.hpp"

namespace penstock {
namespace {

/// Three tiles, all of them out, and one borrower watches for as long as it takes.
struct WatchedPoolOfThree : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, 3 * 256> slab{};
  Pool pool{slab, shape, 3, std::chrono::minutes(1)};
  std::vector<Loan> held;

  void SetUp() override {
    for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  }
  void TearDown() override {
    held.clear();
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(pool.waiting(), 0u) << "a borrower is still asleep";
    EXPECT_FALSE(pool.watched()) << "a borrower is said to watch";
  }
};

TEST_F(WatchedPoolOfThree, LetsOneWatchWhileOthersSleep) {
  std::vector<std::jthread> borrowers;
  std::atomic<int> got{0};
  for (int i = 0; i < 3; ++i) {
    borrowers.emplace_back([&] {
      Loan const loan = pool.borrow();
      got.fetch_add(1);
    });
  }
  while (pool.waiting() != 2) std::this_thread::yield();
  held.pop_back();  // One tile: a thread that watches gives it back, and so on, and none is left behind.
  borrowers.clear();
  EXPECT_EQ(got.load(), 3);
}

TEST_F(WatchedPoolOfThree, LetsWhoSleepsHaveItsTurnAfterSoManyTilesForWhoWatches) {
  std::stop_source stop;
  Mailbox<Tile*> taken(3);
  std::jthread greedy([&] {
    while (auto loan = pool.borrow(stop.get_token())) taken.push(loan->release());
  });
  while (!pool.watched()) std::this_thread::yield();
  std::atomic<bool> slept{false};
  std::jthread sleeper([&] {
    Loan loan = pool.borrow();
    slept.store(true);
    taken.push(loan.release());
  });
  while (pool.waiting() != 1) std::this_thread::yield();
  {
    // The sleeper is counted before it looks for a tile once more, and could find one that is meant for the watcher. It
    // holds the queue until it has looked, so one that queues behind it comes after that.
    std::stop_source enough;
    std::jthread const behind([&] { EXPECT_FALSE(pool.borrow(enough.get_token())); });
    while (pool.waiting() != 2) std::this_thread::yield();
    enough.request_stop();
  }
  Loan tile = std::move(held.back());
  held.pop_back();
  for (unsigned turn = 0; turn <= Pool::most_overtakings; ++turn) {
    while (!pool.watched()) std::this_thread::yield();
    tile.give_back();
    std::optional<Tile*> back;
    while (!(back = taken.pop())) std::this_thread::yield();
    tile = Loan::resume(*back);
    EXPECT_EQ(slept.load(), turn == Pool::most_overtakings) << "turn " << turn;
  }
  stop.request_stop();
  greedy.join();
}

TEST_F(WatchedPoolOfThree, LetsWhoWatchesGoWhenStopIsRequested) {
  std::stop_source stop;
  std::jthread watcher([&] { EXPECT_FALSE(pool.borrow(stop.get_token())); });
  std::jthread sleeper([&] { EXPECT_FALSE(pool.borrow(stop.get_token())); });
  while (pool.waiting() != 1) std::this_thread::yield();
  stop.request_stop();
}

TEST(WatchedPool, LosesNoWakeUpBetweenTwoWhoTakeTurns) {
  constexpr TileShape shape{.input_bytes = 256};
  constexpr int rounds = 2'000;
  alignas(256) std::array<std::byte, 256> slab{};
  // The time is so short that the watch may be at any moment of its end when the tile comes home.
  Pool pool(slab, shape, 1, std::chrono::nanoseconds(300));
  std::atomic<bool> ended{false};
  auto const take_turns = [&] {
    for (int i = 0; i < rounds && !ended.load(); ++i) {
      Loan loan = pool.borrow();
      // No other thread brings a tile home: if it leaves the other asleep, both sleep on.
      while (!pool.watched() && pool.waiting() == 0 && !ended.load()) std::this_thread::yield();
    }
    ended.store(true);
  };
  std::jthread other(take_turns);
  take_turns();
  other.join();
  EXPECT_EQ(pool.on_loan(), 0u);
  EXPECT_FALSE(pool.watched());
}

TEST(WatchedPool, LosesNoTileAndNoWakeUpAmongManyBorrowers) {
  constexpr TileShape shape{.input_bytes = 256};
  constexpr int rounds = 20'000, threads = 8;
  alignas(256) std::array<std::byte, 3 * 256> slab{};
  // The times are so short that a thread that watches gives up as often as not.
  for (auto const spin : {std::chrono::nanoseconds(200), std::chrono::nanoseconds(20'000)}) {
    Pool pool(slab, shape, 3, spin);
    std::atomic<int> borrowed{0};
    std::array<std::atomic<int>, 3> holders{};
    {
      std::vector<std::jthread> all;
      for (int t = 0; t < threads; ++t) {
        all.emplace_back([&] {
          for (int i = 0; i < rounds; ++i) {
            Loan const loan = pool.borrow();
            EXPECT_EQ(holders.at(loan->index()).fetch_add(1), 0) << "two hold one tile";
            holders.at(loan->index()).fetch_sub(1);
            borrowed.fetch_add(1, std::memory_order_relaxed);
          }
        });
      }
    }
    EXPECT_EQ(borrowed.load(), threads * rounds);
    EXPECT_EQ(pool.on_loan(), 0u);
  }
}

}  // namespace
}  // namespace penstock
