// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/spread.hpp"

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

TEST(Spread, IsTheMiddleOneAndTheEnds) {
  Spread const odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 5);
  EXPECT_EQ(spread_of({4, 2}).median, 3) << "between the two in the middle";
  EXPECT_EQ(spread_of({7}).relative(), 0);
  EXPECT_DOUBLE_EQ(spread_of({8, 10, 11}).relative(), 0.2) << "the farther end counts";
}

}  // namespace
}  // namespace penstock::measure
