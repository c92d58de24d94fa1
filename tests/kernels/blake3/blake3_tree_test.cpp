// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "kernels/blake3/blake3_reference.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// A file's bytes, cut into tiles of 2 KiB.
struct Blake3TreeOfTwoKibibyteTiles : testing::Test {
  static constexpr std::size_t tile_bytes = 2048;
  std::vector<std::byte> const bytes = support::noise(70 * tile_bytes);

  Blake3Node tile(std::size_t index, std::size_t size) const {
    std::size_t const start = index * tile_bytes;
    return blake3_subtree(std::span(bytes).subspan(start, std::min(tile_bytes, size - start)), index * 2);
  }
  static std::size_t tiles(std::size_t size) { return std::max<std::size_t>((size + tile_bytes - 1) / tile_bytes, 1); }
  std::string expected(std::size_t size) const { return support::blake3_reference(std::span(bytes).first(size)); }
};

TEST_F(Blake3TreeOfTwoKibibyteTiles, GivesTheDigestOfFilesOfEverySize) {
  for (std::size_t size = 0; size <= bytes.size(); size += 1000) {
    Blake3Tree tree;
    for (std::size_t i = 0; i < tiles(size); ++i) tree.add(i, tile(i, size));
    ASSERT_EQ(blake3_hex(tree.finish(tiles(size))), expected(size)) << size << " bytes";
    ASSERT_EQ(tree.early(), 0u);
  }
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, DoesNotCareForTheOrderOfTiles) {
  std::mt19937 random(3);
  for (std::size_t const size :
       std::initializer_list<std::size_t>{tile_bytes * 2, tile_bytes * 33 + 1, bytes.size() - 1}) {
    std::vector<std::size_t> order(tiles(size));
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = 0; round < 20; ++round) {
      std::ranges::shuffle(order, random);
      Blake3Tree tree;
      for (std::size_t const i : order) tree.add(i, tile(i, size));
      ASSERT_EQ(blake3_hex(tree.finish(tiles(size))), expected(size));
      ASSERT_EQ(tree.early(), 0u);
    }
  }
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, KeepsOnlyTilesThatCameEarly) {
  Blake3Tree tree;
  tree.add(2, tile(2, bytes.size()));
  tree.add(1, tile(1, bytes.size()));
  EXPECT_EQ(tree.early(), 2u);
  tree.add(0, tile(0, bytes.size()));
  EXPECT_EQ(tree.early(), 0u);
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, TakesAnEmptyTileAtTheEndOfAFullOne) {
  std::size_t const size = 4 * tile_bytes;
  for (bool const early : {false, true}) {
    Blake3Tree tree;
    if (early) tree.add(4, blake3_chunk({}, 8));
    for (std::size_t i = 0; i < 4; ++i) tree.add(i, tile(i, size));
    if (!early) tree.add(4, blake3_chunk({}, 8));
    EXPECT_EQ(blake3_hex(tree.finish(5)), expected(size));
  }
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, CanBeFinishedTwiceToTheSameEnd) {
  Blake3Tree tree;
  for (std::size_t i = 0; i < 7; ++i) tree.add(i, tile(i, 7 * tile_bytes));
  EXPECT_EQ(tree.finish(7), tree.finish(7));
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, RefusesATileTwice) {
  Blake3Tree tree;
  tree.add(0, tile(0, bytes.size()));
  tree.add(5, tile(5, bytes.size()));
  EXPECT_THROW(tree.add(0, tile(0, bytes.size())), Error);
  EXPECT_THROW(tree.add(5, tile(5, bytes.size())), Error);
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, NamesTheFirstMissingTile) {
  Blake3Tree tree;
  for (std::size_t const i : std::initializer_list<std::size_t>{0, 1, 3, 4}) tree.add(i, tile(i, bytes.size()));
  try {
    tree.finish(5);
    FAIL() << "a digest of half a file";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find("Tile 2 of 5"), std::string::npos) << error.what();
  }
}

TEST_F(Blake3TreeOfTwoKibibyteTiles, RefusesMoreTilesThanTheFileHas) {
  Blake3Tree tree;
  for (std::size_t i = 0; i < 3; ++i) tree.add(i, tile(i, bytes.size()));
  EXPECT_THROW(tree.finish(2), Error);
  EXPECT_THROW(tree.finish(0), Error);
  tree.add(9, tile(9, bytes.size()));
  EXPECT_THROW(tree.finish(3), Error) << "tile 9 belongs to no file of 3";
}

}  // namespace
}  // namespace penstock
