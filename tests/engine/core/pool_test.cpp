// SPDX-License-Identifier: Apache-2.0
#include "engine/core/pool.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/gated_mutex.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Three tiles of 256 bytes in and 256 out. Every test must leave with all of them home.
struct PoolOfThree : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256};
  alignas(256) std::array<std::byte, 3 * 512> slab{};
  Pool pool{slab, shape, 3};
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(pool.waiting(), 0u) << "a borrower is still queued";
    std::vector<Loan> all;
    while (auto loan = pool.try_borrow()) all.push_back(std::move(*loan));
    EXPECT_EQ(all.size(), 3u) << "a tile is neither lent nor home";
  }
  /// Returns once `count` borrowers are queued, and each of them has looked for a tile for the last time. No tile is
  /// home, and none comes meanwhile.
  void await_asleep(std::size_t count) {
    await_waiting(count);
    // The last of them holds the queue until it has looked, so one that queues behind it comes after that.
    std::stop_source enough;
    std::jthread behind([&] { EXPECT_FALSE(pool.borrow(enough.get_token())); });
    await_waiting(count + 1);
    enough.request_stop();
  }
  /// Returns once `count` borrowers are queued.
  void await_waiting(std::size_t count) const {
    while (pool.waiting() != count) std::this_thread::yield();
  }
};

TEST_F(PoolOfThree, HasNothingToLendWhenEveryTileIsOut) {
  Loan const a = pool.borrow(), b = pool.borrow(), c = pool.borrow();
  EXPECT_FALSE(pool.try_borrow());
}

TEST_F(PoolOfThree, LendsEachTileOnce) {
  Loan const a = pool.borrow(), b = pool.borrow(), c = pool.borrow();
  EXPECT_NE(a->input().data(), b->input().data());
  EXPECT_NE(b->input().data(), c->input().data());
  EXPECT_NE(a->input().data(), c->input().data());
}

TEST_F(PoolOfThree, LaysAllInputsSideBySideAndThenAllOutputs) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.tile(i).input().data(), slab.data() + 256 * i);
    EXPECT_EQ(pool.tile(i).output().data(), slab.data() + 768 + 256 * i);
  }
}

TEST_F(PoolOfThree, LendsACleanTileAfterADirtyOneCameHome) {
  for (int i = 0; i < 6; ++i) {  // Each tile comes twice.
    Loan loan = pool.borrow();
    EXPECT_EQ(loan->filled + loan->tag + loan->sequence + loan->produced + loan->mark(), 0u);
    loan->filled = 7;
    loan->tag = 8;
    loan->sequence = 9;
    loan->produced = 10;
    loan->set_mark(1);
  }
}

TEST_F(PoolOfThree, KeepsATileOutWhileItsLoanMoves) {
  Loan a = pool.borrow();
  Tile* const tile = &*a;
  Loan b = std::move(a);
  EXPECT_EQ(&*b, tile);
  EXPECT_EQ(pool.on_loan(), 1u);
  Loan c = Loan::resume(b.release());
  EXPECT_EQ(pool.on_loan(), 1u);
  c = pool.borrow();
  EXPECT_EQ(pool.on_loan(), 1u) << "the assignment brings the first tile home";
}

TEST(PoolOfTwo, NeverLendsAStrandedTileAgain) {
  alignas(256) std::array<std::byte, 2 * 256> slab{};
  Pool pool(slab, {.input_bytes = 256}, 2);
  Loan stranded = pool.borrow();
  std::uint32_t const index = stranded->index();
  stranded.strand();
  stranded.strand();
  EXPECT_EQ(pool.stranded(), 1u);
  EXPECT_EQ(pool.on_loan(), 1u) << "its holder may still read it";
  EXPECT_EQ(pool.counts().lent, 1u);
  EXPECT_EQ(pool.counts().home, 1u) << "the other one; the stranded tile is lent, and counts once";
  stranded.give_back();
  EXPECT_EQ(pool.on_loan(), 0u);
  EXPECT_EQ(pool.counts().lent, 0u);
  EXPECT_EQ(pool.counts().home, 1u) << "the stranded tile is nowhere";
  EXPECT_EQ(pool.counts().stranded, 1u);
  Loan const other = pool.borrow();
  EXPECT_NE(other->index(), index);
  EXPECT_FALSE(pool.try_borrow());
}

TEST_F(PoolOfThree, ServesWaitingBorrowersInOrderOfArrival) {
  std::vector<Loan> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::jthread> borrowers;
  for (int i = 0; i < 3; ++i) {
    borrowers.emplace_back([&, i] {
      Loan const loan = pool.borrow();
      std::scoped_lock const lock(mutex);
      order.push_back(i);
    });
    await_waiting(static_cast<std::size_t>(i) + 1);
  }
  held.pop_back();  // One tile for three: each passes it on as it ends.
  borrowers.clear();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

/// Seen to fail if try_borrow does not ask whether a borrower waits.
TEST_F(PoolOfThree, LetsNobodyOvertakeAWaitingBorrower) {
  std::vector<Loan> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  std::jthread borrower([&] { Loan const loan = pool.borrow(); });
  await_asleep(1);
  EXPECT_FALSE(pool.try_borrow());
  int stops = 0;
  {
    // The tile is home, and the borrower has not got it yet.
    GatedMutex const gate([&] {
      ++stops;
      EXPECT_FALSE(pool.try_borrow());
      std::jthread([&] { EXPECT_FALSE(pool.try_borrow()); });
    });
    held.pop_back();
  }
  EXPECT_EQ(stops, GatedMutex::works);
}

/// Seen to fail if a borrower that queues does not look for a tile once more, which nothing else would bring it.
TEST_F(PoolOfThree, GivesABorrowerWhatCameHomeBetweenItsLookAndItsPlaceInTheQueue) {
  std::vector<Loan> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  int stops = 0;
  std::stop_source enough;
  std::jthread const end([&](std::stop_token const& over) {
    // A borrower that sleeps on is one that is not served: let it go, and find that it has no tile.
    while (!over.stop_requested() && pool.waiting() == 0) std::this_thread::yield();
    if (pool.waiting() != 0) enough.request_stop();
  });
  {
    GatedMutex const gate([&] {
      ++stops;
      held.clear();
    });
    EXPECT_TRUE(!GatedMutex::works || pool.borrow(enough.get_token()));
  }
  EXPECT_EQ(stops, GatedMutex::works);
}

/// Seen to fail if a tile is counted home before its thread is done with the pool.
TEST_F(PoolOfThree, CountsATileAsOutUntilNothingIsLeftToDoForIt) {
  std::vector<Loan> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  std::jthread borrower([&] { EXPECT_TRUE(pool.borrow()); });
  await_asleep(1);
  int stops = 0;
  {
    GatedMutex const gate([&] {
      ++stops;
      EXPECT_EQ(pool.on_loan(), 3u) << "it could be destroyed under the thread that serves the borrower";
    });
    held.pop_back();
  }
  EXPECT_EQ(stops, GatedMutex::works);
}

TEST_F(PoolOfThree, SaysWhenAllThatWasKeptIsHome) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(pool.wait_until_home(0ns));
  Loan first = pool.borrow();
  Loan second = pool.borrow();
  EXPECT_FALSE(pool.wait_until_home(0ns));
  EXPECT_FALSE(pool.wait_until_home(2ms));
  std::atomic<bool> both_given{false};
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      EXPECT_TRUE(pool.wait_until_home(1h));
      EXPECT_TRUE(both_given.load());
    });
  }
  first.give_back();
  EXPECT_EQ(pool.on_loan(), 1u) << "threads that wait are no tiles";
  both_given.store(true);
  second.give_back();
}

/// The address sanitizer sees it: a thread that brings the last tile home touches nothing of the pool behind its count.
TEST(Pool, MayDieOnceItsLastTileIsHome) {
  constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, 2 * 256> slab{};
  for (int round = 0; round < 500; ++round) {
    auto pool = std::make_unique<Pool>(slab, shape, 2);
    std::vector<std::jthread> holders;
    for (int i = 0; i < 2; ++i) holders.emplace_back([loan = pool->borrow()]() mutable { loan.give_back(); });
    if (round % 2 == 0) {
      while (pool->on_loan() != 0) std::this_thread::yield();
    } else {
      EXPECT_TRUE(pool->wait_until_home(std::chrono::hours(1)));
    }
    pool.reset();
  }
}

TEST_F(PoolOfThree, LetsAWaitingBorrowerGoWhenStopIsRequested) {
  std::vector<Loan> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.borrow());
  std::array<std::stop_source, 3> stops;
  std::array<bool, 3> got{true, true, true};
  std::vector<std::jthread> borrowers;
  for (std::size_t i = 0; i < 3; ++i) {
    borrowers.emplace_back([&, i] { got.at(i) = pool.borrow(stops.at(i).get_token()).has_value(); });
    await_waiting(i + 1);
  }
  stops[1].request_stop();  // From the middle, then the end, then the front of the queue.
  await_waiting(2);
  stops[2].request_stop();
  await_waiting(1);
  stops[0].request_stop();
  borrowers.clear();
  EXPECT_EQ(got, (std::array{false, false, false}));
}

TEST_F(PoolOfThree, LosesNoTileAndNoWakeUpAmongManyBorrowers) {
  constexpr int rounds = 20'000;
  std::atomic<int> borrowed{0};
  std::array<std::atomic<int>, 3> holders{};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          Loan const loan = pool.borrow();
          EXPECT_EQ(holders.at(loan->index()).fetch_add(1), 0) << "two hold one tile";
          holders.at(loan->index()).fetch_sub(1);
          borrowed.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
  }
  EXPECT_EQ(borrowed.load(), 8 * rounds);
}

TEST(Pool, HoldsTheMostTilesItPromises) {
  constexpr TileShape shape{.input_bytes = 1, .output_bytes = 0};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, Pool::max_tiles));
  Pool pool(slab, shape, Pool::max_tiles);
  std::vector<Loan> all;
  while (auto loan = pool.try_borrow()) all.push_back(std::move(*loan));
  EXPECT_EQ(all.size(), 65'534u);
}

TEST(Pool, RefusesASlabThatIsTooSmallAndNamesTheSizeThatWouldDo) {
  std::vector<std::byte> slab(1000);
  try {
    Pool const pool(slab, {.input_bytes = 512, .output_bytes = 0}, 2);
    FAIL() << "the pool accepted it";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find("1024"), std::string::npos) << error.what();
  }
}

TEST(Pool, RefusesNoTilesAndTooManyTiles) {
  std::vector<std::byte> slab(1 << 20);
  EXPECT_THROW(Pool(slab, {.input_bytes = 1}, 0), Error);
  EXPECT_THROW(Pool(slab, {.input_bytes = 1}, 65'535), Error);
}

TEST(Pool, GivesInPlaceTilesOnePartForBoth) {
  std::vector<std::byte> slab(512);
  Pool pool(slab, {.input_bytes = 256, .output_bytes = 256, .in_place = true}, 2);
  Loan const loan = pool.borrow();
  EXPECT_EQ(loan->input().data(), loan->output().data());
}

}  // namespace
}  // namespace penstock
