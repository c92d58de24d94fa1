// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/stride.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// What a stride asks calls for at one moment.
std::vector<std::uint64_t> asked(Stride& stride, std::uint64_t youngest, std::uint64_t retired) {
  std::vector<std::uint64_t> numbers;
  while (auto const number = stride.next(youngest, retired)) {
    numbers.push_back(*number);
    stride.asked_for(*number);
  }
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Stride, AsksForEachTileWhileFewAreInFlight) {
  Stride stride;
  EXPECT_EQ(asked(stride, 1, 0), Numbers{1});
  EXPECT_EQ(asked(stride, 3, 0), (Numbers{2, 3}));
  EXPECT_EQ(asked(stride, 3, 0), Numbers{}) << "each once";
}

TEST(Stride, AsksForEveryEighthOfAFullLane) {
  Stride stride;
  EXPECT_EQ(asked(stride, 128, 0), (Numbers{16, 32, 48, 64}));
}

TEST(Stride, HasNoMoreThanFourUnderWay) {
  Stride stride;
  EXPECT_EQ(asked(stride, 7, 0).size(), 4u);
  EXPECT_EQ(asked(stride, 7, 0), Numbers{}) << "none was retired";
  EXPECT_EQ(asked(stride, 7, 1), Numbers{5}) << "the oldest was";
  EXPECT_EQ(asked(stride, 7, 4), (Numbers{6, 7}));
}

TEST(Stride, GoesOnThoughACallWasLost) {
  Stride stride;
  asked(stride, 4, 0);
  // Nobody called, but the watchdog found all four.
  EXPECT_EQ(asked(stride, 6, 4), (Numbers{5, 6}));
}

}  // namespace
}  // namespace penstock
