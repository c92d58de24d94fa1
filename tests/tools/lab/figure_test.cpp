// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/figure.hpp"

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

TEST(AMedian, IsTheMiddleOneWhateverTheOthersAre) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 1000}), 9);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);
}

}  // namespace
}  // namespace penstock::lab
