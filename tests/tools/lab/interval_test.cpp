// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/interval.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

Interval from_to(std::chrono::nanoseconds start, std::chrono::nanoseconds end) {
  return {"row", "label", start, end};
}

TEST(AnInterval, IsBeforeAnotherIfItEndsWhenThatStarts) {
  EXPECT_TRUE(before(from_to(0ns, 5ns), from_to(5ns, 6ns)));
  EXPECT_TRUE(before(from_to(0ns, 5ns), from_to(9ns, 9ns)));
  EXPECT_FALSE(before(from_to(0ns, 5ns), from_to(4ns, 6ns)));
  EXPECT_FALSE(before(from_to(5ns, 6ns), from_to(0ns, 5ns)));
}

TEST(AnInterval, KnowsHowLongItRanBesideAnother) {
  EXPECT_EQ(together(from_to(0ns, 10ns), from_to(4ns, 20ns)), 6ns);
  EXPECT_EQ(together(from_to(4ns, 20ns), from_to(0ns, 10ns)), 6ns);
  EXPECT_EQ(together(from_to(0ns, 10ns), from_to(2ns, 3ns)), 1ns);
  EXPECT_LE(together(from_to(0ns, 10ns), from_to(10ns, 20ns)), 0ns);
  EXPECT_LT(together(from_to(0ns, 10ns), from_to(15ns, 20ns)), 0ns);
}

TEST(Intervals, CanBeMovedToStartAtZero) {
  std::vector some{from_to(7ns, 9ns), from_to(5ns, 30ns)};
  start_at_zero(some);
  EXPECT_EQ(some[0].start, 2ns);
  EXPECT_EQ(some[0].end, 4ns);
  EXPECT_EQ(some[1].start, 0ns);
  EXPECT_EQ(some[1].end, 25ns);
  start_at_zero({});
}

TEST(ATime, IsSaidInThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(0ns), "0.00 us");
  EXPECT_EQ(time_text(420ns), "0.42 us");
  EXPECT_EQ(time_text(9'996ns), "10.0 us");
  EXPECT_EQ(time_text(430us), "430 us");
  EXPECT_EQ(time_text(20'081us), "20.1 ms");
  EXPECT_EQ(time_text(1250ms), "1.25 s");
  EXPECT_EQ(time_text(-3ms), "-3.00 ms");
}

}  // namespace
}  // namespace penstock::lab
