// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/ramp.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/core/error.hpp"

namespace penstock {
namespace {

std::vector<std::size_t> sizes(Ramp const& ramp) {
  std::vector<std::size_t> all;
  for (std::uint64_t number = 0; number < ramp.size(); ++number) all.push_back(ramp[number].bytes);
  return all;
}

TEST(Ramp, BeginsAndEndsSmall) {
  EXPECT_EQ(sizes(Ramp(62, 8, 1)), (std::vector<std::size_t>{1, 2, 4, 8, 8, 8, 8, 8, 8, 4, 2, 1}));
  EXPECT_EQ(sizes(Ramp(60, 8, 1)), (std::vector<std::size_t>{1, 2, 4, 8, 8, 8, 8, 8, 6, 4, 2, 1}));
}

TEST(Ramp, ClimbsNoHigherThanTheWholeIs) {
  EXPECT_EQ(sizes(Ramp(7, 1024, 1)), (std::vector<std::size_t>{1, 2, 1, 2, 1}));
  EXPECT_EQ(sizes(Ramp(10, 1024, 1)), (std::vector<std::size_t>{1, 2, 4, 2, 1}));
  EXPECT_EQ(sizes(Ramp(1, 1024, 1)), (std::vector<std::size_t>{1}));
  EXPECT_EQ(sizes(Ramp(2, 1024, 1)), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(sizes(Ramp(5, 1024, 8)), (std::vector<std::size_t>{5}));
  EXPECT_TRUE(sizes(Ramp(0, 1024, 8)).empty());
}

TEST(Ramp, IsFlatIfTilesAreNoLargerThanTheSmallestPiece) {
  EXPECT_EQ(sizes(Ramp(20, 8, 8)), (std::vector<std::size_t>{8, 8, 4}));
  EXPECT_EQ(sizes(Ramp(20, 8, 100)), (std::vector<std::size_t>{8, 8, 4}));
}

TEST(Ramp, CoversTheWholeWithoutGapWhateverItsSize) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::uint64_t const total = random() % (std::uint64_t{1} << random() % 30);
    std::size_t const tile = 1 + random() % 100'000;
    std::size_t const smallest = 1 + random() % 5000;
    Ramp const ramp(total, tile, smallest);
    if (ramp.size() > 100'000) continue;
    std::uint64_t end = 0;
    for (std::uint64_t number = 0; number < ramp.size(); ++number) {
      Ramp::Piece const piece = ramp[number];
      ASSERT_EQ(piece.offset, end) << total << " by " << tile << " from " << smallest;
      ASSERT_GT(piece.bytes, 0u);
      ASSERT_LE(piece.bytes, tile);
      end += piece.bytes;
    }
    ASSERT_EQ(end, total) << "by " << tile << " from " << smallest;
  }
}

TEST(Ramp, KnowsThePiecesOfMoreThanMemoryHolds) {
  Ramp const ramp(std::uint64_t{1} << 50, std::size_t{4} << 20);
  Ramp::Piece const last = ramp[ramp.size() - 1];
  EXPECT_EQ(last.bytes, Ramp::default_smallest);
  EXPECT_EQ(last.offset + last.bytes, std::uint64_t{1} << 50);
}

TEST(Ramp, RefusesPiecesOfNothing) {
  EXPECT_THROW(Ramp(1, 0), Error);
  EXPECT_THROW(Ramp(1, 1, 0), Error);
}

}  // namespace
}  // namespace penstock
