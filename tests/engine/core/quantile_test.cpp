// SPDX-License-Identifier: Apache-2.0
#include "engine/core/quantile.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

double quantile_of(std::vector<double> values, double share) {
  return quantile(std::span(values), share);
}

TEST(AQuantile, IsTheMiddleOneWhateverTheOthersAre) {
  EXPECT_EQ(quantile_of({9, 1, 1000}, 0.5), 9);
  EXPECT_EQ(quantile_of({4, 1, 3, 2}, 0.5), 2);
}

TEST(AQuantile, OfASingleValueIsThatOne) {
  for (double const share : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(quantile_of({7}, share), 7);
}

TEST(AQuantile, IsExceededByNoMoreThanTheRest) {
  std::vector<double> thousand(1000);
  std::iota(thousand.rbegin(), thousand.rend(), 1);
  EXPECT_EQ(quantile_of(thousand, 0), 1);
  EXPECT_EQ(quantile_of(thousand, 0.5), 500);
  EXPECT_EQ(quantile_of(thousand, 0.99), 990);
  EXPECT_EQ(quantile_of(thousand, 0.999), 999);
  EXPECT_EQ(quantile_of(thousand, 1), 1000);
}

TEST(AMedian, IsTheMiddleOneWhateverTheOthersAre) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 1000}), 9);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace penstock
