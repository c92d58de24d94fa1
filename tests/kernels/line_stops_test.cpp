// SPDX-License-Identifier: Apache-2.0
#include "penstock/kernels/line_stops.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(StopsOfLines, AreTheSameHoweverManyBytesAreComparedAtOnce) {
  std::mt19937 random(1);
  std::array<char, 8> const bytes{'a', ' ', '"', '\n', '[', ']', '\\', '\xFF'};
  for (LineFields const& fields : {LineFields{.separator = ' ', .quote = '"', .escape = '\\', .brackets = true},
                                   LineFields{.separator = ' ', .quote = 0, .escape = 0, .brackets = false}}) {
    for (int times = 0; times < 200; ++times) {
      std::array<char, 65> text{};
      std::ranges::generate(text, [&] { return bytes.at(random() % bytes.size()); });
      std::uint64_t expected = 0;
      for (std::size_t k = 64; k > 0; --k) expected = expected << 1U | (is_stop(text.at(k), fields) ? 1U : 0U);
      StopSet::Before before;
      for (unsigned const at_most : {16U, 32U, 64U}) {
        // From an odd place.
        EXPECT_EQ(StopSet(fields, at_most).of(&text.at(1), before), expected) << at_most;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
