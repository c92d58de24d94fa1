// SPDX-License-Identifier: Apache-2.0
#include "programs/command/claim.hpp"

#include <array>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 2> figures{"speed_up", "overlap"};

Claim claim(std::string const& text) {
  return {text, figures, "overlap > 0.6"};
}

TEST(AClaim, HoldsAsItsComparisonSays) {
  EXPECT_TRUE(claim("speed_up >= 1.5").holds(1.5));
  EXPECT_FALSE(claim("speed_up > 1.5").holds(1.5));
  EXPECT_TRUE(claim("overlap<=0.5").holds(0.5));
  EXPECT_FALSE(claim(" overlap < 0.5 ").holds(0.5));
  EXPECT_EQ(claim("overlap<=0.5").figure(), "overlap");
}

TEST(AClaim, IsNoneWithoutAFigureAComparisonAndANumber) {
  for (char const* const text : {"", "1.5", "speed > 1", "overlap", "overlap = 1", "overlap > fast", "overlap > inf"})
    EXPECT_THROW(claim(text), Error) << text;
}

TEST(AClaim, SaysWhatOneLooksLike) {
  try {
    claim("1.5");
    ADD_FAILURE() << "it was taken";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(),
                 "--expect '1.5' is no expectation: write speed_up or overlap, then >, >=, < or <=, then "
                 "a number, as in --expect 'overlap > 0.6'.");
  }
}

}  // namespace
}  // namespace penstock::cli
