// SPDX-License-Identifier: Apache-2.0
#include "engine/core/too_slow.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

std::string late(unsigned factor) {
  return std::string(too_slow_for_its_clock) + ": 7 % were late. Times may be too long; " +
         std::string(larger_factor_would_do) + std::to_string(factor) + ".";
}

TEST(ARemarkOnALateClock, SaysWhichFactorWouldDo) {
  EXPECT_EQ(advised_factor(late(80)), 80u);
  EXPECT_EQ(advised_factor(too_slow_for_its_clock), 0u);
  EXPECT_EQ(advised_factor(""), 0u);
}

TEST(ARemarkOnALateClock, IsFoundAmongOthers) {
  EXPECT_EQ(too_slow_in({"The pool has 3 tiles.", late(60), late(80)}), late(60));
  EXPECT_EQ(too_slow_in({"The pool has 3 tiles."}), "");
  EXPECT_EQ(too_slow_in({}), "");
}

TEST(ARemarkOnALateClock, IsKeptIfItIsTheFirst) {
  std::string kept;
  for (unsigned const factor : {60u, 80u}) keep_too_slow({late(factor)}, kept);
  keep_too_slow({}, kept);
  EXPECT_EQ(kept, late(60));
}

}  // namespace
}  // namespace penstock
