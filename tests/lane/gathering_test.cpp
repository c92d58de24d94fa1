// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/gathering.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/core/pool.hpp"

namespace penstock {
namespace {

using Indices = std::vector<std::uint32_t>;

/// Ten tiles in blocks of four, so that the last block has two. Every test must leave with all of them home.
struct GatheringOfTen : testing::Test {
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes({.input_bytes = 256}, 10));
  Pool pool{slab, {.input_bytes = 256}, 10};
  std::vector<Loan> out;  ///< By index.
  std::vector<Loan> taken;
  Gathering gathering{10, 4};

  void SetUp() override {
    for (int i = 0; i < 10; ++i) out.push_back(pool.borrow());
    taken.reserve(10);
  }
  void TearDown() override {
    EXPECT_TRUE(gathering.empty());
    out.clear();
    taken.clear();
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
  }
  void add(Indices const& indices) {
    for (std::uint32_t const index : indices) gathering.add(std::move(out[index]));
  }
  Indices given_back() {
    Indices indices;
    for (Loan& loan : taken) {
      indices.push_back(loan->index());
      out[indices.back()] = std::move(loan);
    }
    taken.clear();
    return indices;
  }
  Indices take_whole() {
    gathering.take_whole(taken);
    return given_back();
  }
  Indices take(std::size_t most) {
    gathering.take(most, taken);
    return given_back();
  }
};

TEST_F(GatheringOfTen, IsWholeOnceAllOfABlockAreThere) {
  add({3, 1, 0});
  EXPECT_EQ(gathering.whole(), 0u);
  EXPECT_EQ(take_whole(), Indices());
  add({2});
  EXPECT_EQ(gathering.whole(), 4u);
  EXPECT_EQ(take_whole(), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(gathering.whole(), 0u);
}

TEST_F(GatheringOfTen, KnowsThatTheLastBlockIsSmaller) {
  add({9, 8});
  EXPECT_EQ(gathering.whole(), 2u);
  EXPECT_EQ(take_whole(), (Indices{8, 9}));
}

/// Seen to fail if there is a block less where the last one has a single tile.
TEST_F(GatheringOfTen, HasABlockForATileThatIsLeftOver) {
  Gathering nine(9, 4);
  for (Indices const& block : {Indices{4, 5, 6, 7}, Indices{8}, Indices{0, 1, 2, 3}}) {
    for (std::uint32_t const index : block) nine.add(std::move(out[index]));
  }
  for (Indices const& block : {Indices{4, 5, 6, 7}, Indices{8}, Indices{0, 1, 2, 3}}) {
    EXPECT_EQ(nine.whole(), block.size());
    nine.take_whole(taken);
    EXPECT_EQ(given_back(), block);
  }
}

TEST_F(GatheringOfTen, GivesTheBlockFirstThatWasWholeFirst) {
  add({0, 1, 2, 4, 5, 6, 7, 3});
  EXPECT_EQ(take_whole(), (Indices{4, 5, 6, 7}));
  EXPECT_EQ(take_whole(), (Indices{0, 1, 2, 3}));
}

/// Seen to fail if a block that is taken whole keeps its place among those that began to gather.
TEST_F(GatheringOfTen, GivesNothingInTheOrderOfWhatIsGone) {
  add({0, 1, 2, 3});
  take_whole();
  add({4, 0});
  EXPECT_EQ(take(2), (Indices{4, 0}));
}

TEST_F(GatheringOfTen, TakesOfTheOldestBlockAloneIfAsked) {
  add({6, 0, 5});
  gathering.take_oldest(1, taken);
  EXPECT_EQ(given_back(), (Indices{5}));
  gathering.take_oldest(4, taken);
  EXPECT_EQ(given_back(), (Indices{6}));
  gathering.take_oldest(4, taken);
  EXPECT_EQ(given_back(), (Indices{0}));
}

TEST_F(GatheringOfTen, TakesTheOldestWherePartsWillDo) {
  add({6, 0, 1, 8});
  EXPECT_EQ(gathering.size(), 4u);
  EXPECT_EQ(take(2), (Indices{6, 0}));
  EXPECT_EQ(take(9), (Indices{1, 8}));
}

/// Seen to fail if it looks at the oldest block though there is none, or none of its tiles are wanted.
TEST_F(GatheringOfTen, TakesNothingOfNothingAndNothingIfNoneAreWanted) {
  gathering.take_oldest(3, taken);
  EXPECT_EQ(given_back(), Indices());
  add({0, 1, 2, 3});
  gathering.take_oldest(0, taken);
  EXPECT_EQ(given_back(), Indices());
  EXPECT_EQ(gathering.whole(), 4u);
  EXPECT_EQ(take_whole(), (Indices{0, 1, 2, 3}));
}

/// Seen to fail if a block stays whole that some were taken from.
TEST_F(GatheringOfTen, IsNoLongerWholeWhenSomeWereTaken) {
  add({0, 1, 2, 3});
  EXPECT_EQ(take(1), (Indices{0}));
  EXPECT_EQ(gathering.whole(), 0u);
  add({0});
  EXPECT_EQ(gathering.whole(), 4u);
  EXPECT_EQ(take_whole(), (Indices{0, 1, 2, 3}));
}

/// Seen to fail if a block that was taken whole stands in its old place twice.
TEST_F(GatheringOfTen, HasEachTileOnceWhateverComesAndGoes) {
  std::minstd_rand random(7);
  for (int round = 0; round < 20'000; ++round) {
    auto const index = static_cast<std::uint32_t>(random() % 10);
    if (out[index]) add({index});
    std::size_t const before = gathering.size();
    if (random() % 5 == 0) {
      std::size_t const whole = gathering.whole();
      ASSERT_EQ(take_whole().size(), whole);
      ASSERT_EQ(gathering.size(), before - whole);
    }
    if (random() % 17 == 0) {
      std::size_t const most = random() % 5;
      std::size_t const all = gathering.size();
      ASSERT_EQ(take(most).size(), std::min(most, all));
    }
    ASSERT_EQ(static_cast<std::size_t>(std::ranges::count_if(out, [](Loan const& loan) { return !loan; })),
              gathering.size());
  }
  take(10);
}

}  // namespace
}  // namespace penstock
