// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/verdict.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

Interval from_to(std::string const& label, std::chrono::nanoseconds start, std::chrono::nanoseconds end) {
  return {"stream " + label, label, start, end};
}

TEST(AVerdictOnOrder, IsAsExpectedIfNoneStartsBeforeTheOneBeforeItEnded) {
  std::vector const three{from_to("A", 0ms, 2ms), from_to("0", 2ms, 4ms), from_to("B", 5ms, 6ms)};
  auto const verdict = one_after_another(three);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "each of the 3 started when the one before it had ended, after 1.00 ms at most");
}

TEST(AVerdictOnOrder, NamesTheFirstThatStartedTooEarly) {
  std::vector const three{from_to("A", 0ms, 2ms), from_to("0", 2ms, 4ms), from_to("B", 1ms, 6ms)};
  auto const verdict = one_after_another(three);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "B (stream B) started 3.00 ms before 0 (stream 0) had ended");
}

TEST(AVerdictOnOrder, WantsTheOrderThatItWasGiven) {
  EXPECT_FALSE(one_after_another(std::vector{from_to("A", 5ms, 6ms), from_to("B", 0ms, 1ms)}).as_expected);
}

TEST(AVerdictOnOverlap, IsAsExpectedIfAllRanAtOneMoment) {
  std::vector const three{from_to("A", 0ms, 5ms), from_to("0", 1ms, 7ms), from_to("B", 3ms, 9ms)};
  auto const verdict = all_at_once(three);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "all 3 ran at once, for 2.00 ms");
}

TEST(AVerdictOnOverlap, IsNotContentWithPairs) {
  std::vector const three{from_to("A", 0ms, 4ms), from_to("0", 1ms, 9ms), from_to("B", 5ms, 9ms)};
  auto const verdict = all_at_once(three);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "B (stream B) started 1.00 ms after A (stream A) had ended");
}

TEST(AVerdictOnOverlap, TakesAHandOverForNone) {
  EXPECT_FALSE(all_at_once(std::vector{from_to("A", 0ms, 4ms), from_to("B", 4ms, 5ms)}).as_expected);
}

TEST(AVerdictOfTwo, NeedsBothAndSaysBoth) {
  Verdict const good{true, "one"}, bad{false, "other"};
  EXPECT_TRUE(both(good, good).as_expected);
  EXPECT_FALSE(both(good, bad).as_expected);
  EXPECT_FALSE(both(bad, good).as_expected);
  EXPECT_EQ(both(good, bad).fact, "one; other");
}

}  // namespace
}  // namespace penstock::lab
