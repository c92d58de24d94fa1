// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/red_zones.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A slot with zones for a tile of two inputs and an output, none of which is a multiple of anything.
struct ASlotWithZones : testing::Test {
  static constexpr TileShape shape{.input_bytes = 100, .output_bytes = 300, .more_input_bytes = {7}};

  ASlotWithZones() {
    loan->filled = 90;
    loan->more_filled[0] = 7;
    RedZones::paint(parts, *loan);
    for (auto const part : {parts.input.first(90), parts.more_inputs[0], parts.output}) {
      std::ranges::fill(part, std::byte{1});
    }
  }
  std::string found() const {
    auto const failure = RedZones::look(parts, *loan);
    if (failure == nullptr) return "";
    EXPECT_EQ(failure->stage, "stage");
    return failure->reason;
  }

  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 1));
  Pool pool{slab, shape, 1};
  Loan loan = pool.borrow();
  TileShape const slot_shape = RedZones::around(shape);
  std::vector<std::byte> memory = std::vector<std::byte>(Pool::slab_bytes(slot_shape, 2));
  TileParts parts = RedZones::within(slot_shape.cut(memory, 2, 1), shape);
};

TEST_F(ASlotWithZones, HasPartsOfTheTilesSize) {
  EXPECT_EQ(parts.input.size(), 100U);
  EXPECT_EQ(parts.output.size(), 300U);
  EXPECT_EQ(parts.more_inputs[0].size(), 7U);
  EXPECT_TRUE(parts.more_inputs[1].empty());
}

TEST_F(ASlotWithZones, FindsNothingInAStageThatWritesAllOfTheTile) {
  EXPECT_EQ(found(), "");
}

/// Seen to fail if zones begin one byte further away.
TEST_F(ASlotWithZones, FindsOneByteBesideEachPart) {
  struct Case {
    std::byte* at;
    char const* what;
  };
  for (Case const& one : {Case{parts.output.data() + 300, "1 byte behind the output"},
                          Case{parts.output.data() - 1, "1 byte before the output"},
                          Case{parts.input.data() + 90, "1 byte behind the input"},
                          Case{parts.input.data() - RedZones::bytes, "1 byte before the input"},
                          Case{parts.more_inputs[0].data() + 7, "1 byte behind the second input"}}) {
    std::byte const before = std::exchange(*one.at, std::byte{0});
    EXPECT_THAT(found(), HasSubstr(one.what));
    *one.at = before;
  }
  EXPECT_EQ(found(), "");
}

TEST_F(ASlotWithZones, IsPaintedAnewForTheNextTile) {
  parts.output.data()[301] = std::byte{0};
  RedZones::paint(parts, *loan);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace penstock
