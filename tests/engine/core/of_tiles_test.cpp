// SPDX-License-Identifier: Apache-2.0
#include "engine/core/of_tiles.hpp"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Three pools of two tiles each, and a number for each tile of two of them.
struct NumbersOfTheTilesOfTwoPools : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::array<std::byte, 512>, 3> slabs{};
  Pool first{slabs[0], shape, 2}, second{slabs[1], shape, 2}, third{slabs[2], shape, 2};
  OfTiles<int, 2> numbers;

  template <class Call>
  static bool is_refused(Call const& call) {
    try {
      call();
      return false;
    } catch (Error const& error) {
      return error.kind() == ErrorKind::bad_argument;
    }
  }
};

TEST_F(NumbersOfTheTilesOfTwoPools, AreOneForEachTile) {
  numbers.add(first);
  numbers.add(second);
  int next = 1;
  for (Pool* const pool : {&first, &second}) {
    for (std::size_t i = 0; i < 2; ++i) numbers.of(pool->tile(i)) = next++;
  }
  EXPECT_EQ(numbers.of(first.tile(0)), 1);
  EXPECT_EQ(numbers.of(first.tile(1)), 2);
  EXPECT_EQ(numbers.of(second.tile(0)), 3);
  EXPECT_EQ(numbers.of(second.tile(1)), 4);
}

TEST_F(NumbersOfTheTilesOfTwoPools, AreNotThereForAThird) {
  numbers.add(first);
  numbers.add(second);
  EXPECT_TRUE(is_refused([&] { numbers.add(third); }));
  EXPECT_TRUE(is_refused([&] { static_cast<void>(numbers.of(third.tile(0))); }));
}

}  // namespace
}  // namespace penstock
