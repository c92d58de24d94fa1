// SPDX-License-Identifier: Apache-2.0
// A pool that is cut from several slabs.
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr TileShape shape{.input_bytes = 256, .output_bytes = 512};

/// Two tiles of one slab, three of another and one of a third. Every test must leave with all of them home.
struct PoolOfThreeParts : testing::Test {
  alignas(256) std::array<std::byte, std::size_t{2} * 768> first{};
  alignas(256) std::array<std::byte, std::size_t{3} * 768> second{};
  alignas(256) std::array<std::byte, std::size_t{1} * 768> third{};
  std::array<PoolPart, 3> cut{PoolPart{first, 2}, PoolPart{second, 3}, PoolPart{third, 1}};
  Pool pool{cut, shape};
  std::vector<Loan> held;

  void hold(std::size_t part, std::size_t tiles) {
    for (std::size_t i = 0; i < tiles; ++i) held.push_back(pool.borrow(part));
  }
  std::vector<std::size_t> held_parts() const {
    std::vector<std::size_t> parts;
    for (Loan const& loan : held) parts.push_back(loan->pool_part());
    return parts;
  }
  /// Returns once `count` borrowers are queued.
  void await_waiting(std::size_t count) const {
    while (pool.waiting() != count) std::this_thread::yield();
  }
  void TearDown() override {
    held.clear();
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(pool.waiting(), 0u) << "a borrower is still queued";
    while (auto loan = pool.try_borrow()) held.push_back(std::move(*loan));
    EXPECT_THAT(held_parts(), UnorderedElementsAre(0, 0, 1, 1, 1, 2)) << "a tile is neither lent nor home";
  }
};

TEST_F(PoolOfThreeParts, NumbersItsTilesPartByPart) {
  std::vector<std::size_t> parts, indices;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    parts.push_back(pool.part_of(i));
    indices.push_back(pool.tile(i).index());
  }
  EXPECT_EQ(pool.parts(), 3u);
  EXPECT_THAT(parts, ElementsAre(0, 0, 1, 1, 1, 2));
  EXPECT_THAT(indices, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(PoolOfThreeParts, LaysInputsSideBySideAndThenOutputsInEach) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pool.tile(2 + i).input().data(), second.data() + 256 * i);
    EXPECT_EQ(pool.tile(2 + i).output().data(), second.data() + 768 + 512 * i);
  }
  EXPECT_EQ(pool.tile(5).input().data(), third.data());
  EXPECT_EQ(pool.tile(5).output().data(), third.data() + 256);
}

TEST_F(PoolOfThreeParts, LendsTilesOfThePartThatIsPreferred) {
  for (int round = 0; round < 2; ++round) {
    hold(1, 3);
    EXPECT_THAT(held_parts(), Each(1));
    held.clear();
  }
  EXPECT_EQ(pool.try_borrow(2)->operator*().pool_part(), 2u);
  EXPECT_EQ(pool.borrow()->pool_part(), 0u);
}

TEST_F(PoolOfThreeParts, LendsTilesOfTheNextPartThatHasAnyOnceThePreferredHasNone) {
  hold(1, 6);
  EXPECT_THAT(held_parts(), ElementsAre(1, 1, 1, 2, 0, 0));
  for (std::size_t part = 0; part < 3; ++part) EXPECT_FALSE(pool.try_borrow(part));
}

TEST_F(PoolOfThreeParts, ServesWhoWaitsWithATileOfAnyPart) {
  for (std::size_t part = 0; part < 3; ++part) {
    hold(0, 6);
    std::optional<std::size_t> got;
    std::jthread borrower([&] { got = pool.borrow((part + 1) % 3)->pool_part(); });
    await_waiting(1);
    std::erase_if(held, [&](Loan const& loan) { return loan->pool_part() == part; });
    borrower.join();
    EXPECT_EQ(got, part);
    held.clear();
  }
}

/// Seen to fail if the first that sleeps gets whatever comes.
TEST_F(PoolOfThreeParts, ServesWhoWaitsForATilesPartBeforeTheOthersAndElseInOrderOfArrival) {
  hold(0, 6);
  std::mutex mutex;
  std::vector<std::size_t> order;
  std::vector<std::jthread> borrowers;
  for (std::size_t const part : std::array<std::size_t, 4>{0, 1, 2, 0}) {
    borrowers.emplace_back([&, number = borrowers.size(), part] {
      Loan const loan = pool.borrow(part);
      std::scoped_lock const lock(mutex);
      order.push_back(number);
    });
    await_waiting(borrowers.size());
  }
  std::erase_if(held, [](Loan const& loan) { return loan->pool_part() == 2; });  // One tile for all four.
  borrowers.clear();
  EXPECT_THAT(order, ElementsAre(2, 0, 1, 3));
}

/// Seen to fail if it is not counted how often a sleeper was passed over.
TEST_F(PoolOfThreeParts, PassesNobodyOverForEver) {
  hold(0, 6);
  std::atomic<bool> served{false};
  std::jthread patient([&] {
    Loan const loan = pool.borrow(0);
    served = true;
  });
  await_waiting(1);
  for (unsigned pass = 0; pass <= Pool::most_passes; ++pass) {
    std::optional<Loan> got;
    std::jthread rival([&] { got = pool.borrow(2); });
    await_waiting(2);
    held.pop_back();  // The one tile of the third part.
    rival.join();
    EXPECT_EQ(served, pass == Pool::most_passes) << "after " << pass << " that passed";
    held.push_back(std::move(*got));
  }
  held.clear();
}

TEST_F(PoolOfThreeParts, LetsNobodyOvertakeByPreferringAnotherPart) {
  hold(0, 6);
  std::jthread borrower([&] { Loan const loan = pool.borrow(0); });
  await_waiting(1);
  for (std::size_t part = 0; part < 3; ++part) EXPECT_FALSE(pool.try_borrow(part));
  held.clear();
}

/// Keeps `threads` borrowers at it, of which each prefers a part of its own.
void take_turns(Pool& pool, std::size_t threads, int rounds, std::vector<std::atomic<int>>& holders) {
  std::vector<std::jthread> borrowers;
  for (std::size_t t = 0; t < threads; ++t) {
    borrowers.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        Loan const loan = pool.borrow(t % pool.parts());
        EXPECT_EQ(holders.at(loan->index()).fetch_add(1), 0) << "two hold one tile";
        holders.at(loan->index()).fetch_sub(1);
      }
    });
  }
}

/// Seen to stand still if a sleeper that is counted looks for tiles of its own part alone.
TEST_F(PoolOfThreeParts, LosesNoTileAndNoWakeUpAmongManyBorrowers) {
  std::vector<std::atomic<int>> holders(pool.size());
  hold(0, 3);  // They wait for each other then: both tiles of the first part are out, and one of the second.
  take_turns(pool, 8, 10'000, holders);
}

TEST_F(PoolOfThreeParts, LosesNoTileAndNoWakeUpWhileOneOfThoseWhoWaitWatches) {
  Pool watched(cut, shape, std::chrono::microseconds(20));
  std::vector<std::atomic<int>> holders(watched.size());
  {
    std::vector<Loan> out;
    for (int i = 0; i < 3; ++i) out.push_back(watched.borrow());
    take_turns(watched, 8, 10'000, holders);
  }
  EXPECT_EQ(watched.on_loan(), 0u);
  EXPECT_EQ(watched.waiting(), 0u);
}

/// Seen to stand still if a thread that has watched looks only into the first part before it wakes the next.
TEST_F(PoolOfThreeParts, LeavesNobodyAsleepWhenATileComesHomeToAPartThatNobodyPrefers) {
  Pool watched(cut, shape, std::chrono::minutes(1));
  std::vector<Loan> out;
  for (int i = 0; i < 6; ++i) out.push_back(watched.borrow());
  std::atomic<int> got{0};
  std::vector<std::jthread> borrowers;
  std::vector<Loan> kept(3);
  for (std::size_t i = 0; i < 3; ++i) {
    borrowers.emplace_back([&, i] {
      kept[i] = watched.borrow(0);
      got.fetch_add(1);
    });
  }
  while (watched.waiting() != 2 || !watched.watched()) std::this_thread::yield();
  std::erase_if(out, [](Loan const& loan) { return loan->pool_part() == 1; });
  borrowers.clear();
  EXPECT_EQ(got, 3);
}

TEST(PoolParts, RefuseASlabThatIsTooSmallWhicheverItIs) {
  std::vector<std::byte> large(std::size_t{4} * 768), small(std::size_t{2} * 768 - 1);
  std::array const parts{PoolPart{large, 4}, PoolPart{small, 2}};
  try {
    Pool const pool(parts, shape);
    FAIL() << "the pool accepted it";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_THAT(error.what(), HasSubstr("2 tiles need a slab of 1536 bytes, but it has 1535"));
  }
}

TEST(PoolParts, HaveATileEachAndTogetherNoMoreThanAPoolHolds) {
  constexpr TileShape tiny{.input_bytes = 1};
  std::vector<std::byte> slab(Pool::slab_bytes(tiny, Pool::max_tiles));
  EXPECT_THROW(Pool(std::span<PoolPart const>(), tiny), Error);
  std::array const empty{PoolPart{slab, 1}, PoolPart{slab, 0}};
  EXPECT_THROW(Pool(empty, tiny), Error);
  std::array const many{PoolPart{slab, Pool::max_tiles}, PoolPart{slab, 1}};
  EXPECT_THROW(Pool(many, tiny), Error);
}

TEST(PoolSizes, RefuseWhatNoProcessCanAddress) {
  std::size_t const huge = ~std::size_t{255};
  EXPECT_THROW(Pool::slab_bytes({.input_bytes = huge, .output_bytes = 100}, 4), Error);
  EXPECT_THROW(Pool::slab_bytes({.input_bytes = 100, .output_bytes = huge}, 1), Error);
  EXPECT_THROW(Pool::slab_bytes({.input_bytes = std::size_t{1} << 61}, 8), Error);
  EXPECT_THROW(Pool::slab_bytes({.input_bytes = std::size_t{1} << 46, .output_bytes = std::size_t{1} << 46}, 2), Error);
  EXPECT_EQ(Pool::slab_bytes({.input_bytes = std::size_t{1} << 40}, 4), std::size_t{1} << 42);
}

}  // namespace
}  // namespace penstock
