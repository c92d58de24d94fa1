// SPDX-License-Identifier: Apache-2.0
#include "engine/core/words.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

enum class Shape { split, single, round };
constexpr std::array shapes{Shape::split, Shape::single, Shape::round};

std::string_view to_string(Shape shape) {
  return shape == Shape::split ? "split" : shape == Shape::single ? "single" : "round";
}

TEST(Words, AreListedWithACommaBetweenTwoOfThem) {
  EXPECT_EQ(words_for(shapes), "split, single, round");
  EXPECT_EQ(words_for(std::array{Shape::round}), "round");
}

TEST(Words, AreReadAsTheyAreWrittenAndOthersAreRefusedWithAllThatThereAre) {
  EXPECT_EQ(parse_word(shapes, "single", "shape"), Shape::single);
  EXPECT_FALSE(find_word(shapes, "Single"));
  try {
    static_cast<void>(parse_word(shapes, "square", "shape"));
    ADD_FAILURE() << "it was taken for one";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_STREQ(error.what(), "There is no shape 'square': choose from split, single, round.");
  }
}

}  // namespace
}  // namespace penstock
