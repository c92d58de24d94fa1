// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/callback_signal.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// Returns the numbers for which a throttle asks calls at one moment.
std::vector<std::uint64_t> asked(CallbackThrottle& throttle, std::uint64_t youngest, std::uint64_t retired) {
  std::vector<std::uint64_t> numbers;
  while (auto const number = throttle.next(youngest, retired)) {
    numbers.push_back(*number);
    throttle.asked_for(*number);
  }
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(CallbackThrottle, AsksForEachTileWhileFewAreInFlight) {
  CallbackThrottle throttle;
  EXPECT_EQ(asked(throttle, 1, 0), Numbers{1});
  EXPECT_EQ(asked(throttle, 3, 0), (Numbers{2, 3}));
  EXPECT_EQ(asked(throttle, 3, 0), Numbers{}) << "each once";
}

TEST(CallbackThrottle, AsksForEveryEighthOfAFullLane) {
  CallbackThrottle throttle;
  EXPECT_EQ(asked(throttle, 128, 0), (Numbers{16, 32, 48, 64}));
}

TEST(CallbackThrottle, HasNoMoreThanFourUnderWay) {
  CallbackThrottle throttle;
  EXPECT_EQ(asked(throttle, 7, 0).size(), 4u);
  EXPECT_EQ(asked(throttle, 7, 0), Numbers{}) << "none was retired";
  EXPECT_EQ(asked(throttle, 7, 1), Numbers{5}) << "the oldest was";
  EXPECT_EQ(asked(throttle, 7, 4), (Numbers{6, 7}));
}

TEST(CallbackThrottle, GoesOnThoughACallWasLost) {
  CallbackThrottle throttle;
  asked(throttle, 4, 0);
  // No call came, but the watchdog found all four.
  EXPECT_EQ(asked(throttle, 6, 4), (Numbers{5, 6}));
}

}  // namespace
}  // namespace penstock
