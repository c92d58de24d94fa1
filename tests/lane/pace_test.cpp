// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/pace.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::microseconds;

TEST(Pace, IsNothingBeforeATileIsThrough) {
  EXPECT_EQ(Pace().of(100), microseconds(0));
}

TEST(Pace, IsTimeOverTilesHoweverManyCameAtOnce) {
  Pace pace;
  for (int i = 0; i < 50; ++i) {
    // Found late, and then early, each by one look.
    pace.add(microseconds(900), 6);
    pace.add(microseconds(100), 4);
  }
  EXPECT_NEAR(static_cast<double>(pace.of(10).count()), 1e6, 1e5);
}

/// Seen to fail if all counts for ever.
TEST(Pace, FollowsADeviceThatGetsFaster) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) pace.add(microseconds(1000), 1);
  for (int i = 0; i < 50; ++i) pace.add(microseconds(10), 1);
  EXPECT_LT(pace.of(1), microseconds(20));
}

}  // namespace
}  // namespace penstock
