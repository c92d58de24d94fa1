// SPDX-License-Identifier: Apache-2.0
#include "observe/lost_tiles.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Two tiles with two inputs, of which neither fills whole words. Every test must leave with both home.
struct TwoLostTiles : testing::Test {
  static constexpr TileShape shape{.input_bytes = 64, .output_bytes = 8, .more_input_bytes = {16}};
  alignas(256) std::array<std::byte, 4096> slab{};
  Pool pool{slab, shape, 2};
  LostTiles lost{shape};

  void keep_both() {
    for (std::uint64_t number : {5U, 6U}) {
      Loan const loan = pool.borrow();
      std::ranges::fill(loan->input(), static_cast<std::byte>(number));
      std::ranges::fill(loan->input(1), static_cast<std::byte>(number + 100));
      loan->filled = number;
      loan->more_filled[0] = 3;
      loan->sequence = number;
      loan->tag = 2 * number;
      lost.keep(*loan, 7);
    }
  }
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home"; }
};

TEST_F(TwoLostTiles, AreSeenAsTheyWere) {
  keep_both();
  LostTilesView const view(lost.file());
  EXPECT_EQ(view.header().shape, shape);
  ASSERT_EQ(view.tiles().size(), 2U);
  for (std::uint64_t number : {5U, 6U}) {
    LostTile const& tile = *view.tiles()[number - 5];
    EXPECT_EQ(tile.sequence, number);
    EXPECT_EQ(tile.tag, 2 * number);
    EXPECT_EQ(tile.lane, 7U);
    EXPECT_EQ(tile.fate, Fate::not_tried);
    EXPECT_THAT(LostTilesView::input(tile, 0), testing::SizeIs(number));
    EXPECT_THAT(LostTilesView::input(tile, 0), testing::Each(static_cast<std::byte>(number)));
    EXPECT_THAT(LostTilesView::input(tile, 1),
                testing::ElementsAre(std::byte(number + 100), std::byte(number + 100), std::byte(number + 100)));
  }
  EXPECT_THAT(lost.missing(), testing::IsEmpty());
}

TEST_F(TwoLostTiles, HaveAFateThatAllSee) {
  keep_both();
  LostTilesView const one(lost.file()), other(lost.file());
  one.tiles()[1]->fate = Fate::guilty;
  put_text(one.tiles()[1]->reason, std::string(1000, 'x'));
  EXPECT_EQ(other.tiles()[1]->fate, Fate::guilty);
  EXPECT_EQ(std::string(other.tiles()[1]->reason.data()), std::string(479, 'x')) << "what is too long is cut";
}

TEST_F(TwoLostTiles, AreNotInAFileUntilThereAreAny) {
  EXPECT_EQ(lost.file(), -1);
}

TEST_F(TwoLostTiles, AreRefusedIfTheirFileIsDamaged) {
  keep_both();
  LostTilesView(lost.file()).header().magic += 1;
  EXPECT_THROW(LostTilesView(lost.file()), Error);
  LostTilesHeader const right;
  ASSERT_EQ(pwrite(lost.file(), &right.magic, sizeof right.magic, 0), 8);
  off_t const length = lseek(lost.file(), 0, SEEK_END);
  ASSERT_EQ(ftruncate(lost.file(), length - 8), 0);
  EXPECT_THROW(LostTilesView(lost.file()), Error);
  ASSERT_EQ(ftruncate(lost.file(), 10), 0);
  EXPECT_THROW(LostTilesView(lost.file()), Error);
}

}  // namespace
}  // namespace penstock
