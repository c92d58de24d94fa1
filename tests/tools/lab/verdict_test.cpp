// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/verdict.hpp"

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

TEST(AVerdictOnABarrier, IsAsExpectedIfAllKeepToTheirSide) {
  std::vector const sides{from_to("1", 0ms, 2ms), from_to("2", 0ms, 3ms), from_to("3", 5ms, 7ms)};
  auto const verdict = stands_between(std::span(sides).first(2), from_to("call", 3ms, 4ms), std::span(sides).last(1));
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "call (stream call) started when the 2 before it had ended, and the 1 after it when it had ended");
}

TEST(AVerdictOnABarrier, NamesWhoeverCrossedIt) {
  std::vector const sides{from_to("1", 0ms, 2ms), from_to("2", 3ms, 4ms)};
  std::span const one = std::span(sides).first(1), two = std::span(sides).last(1);
  EXPECT_EQ(stands_between(one, from_to("call", 1ms, 3ms), two).fact,
            "call (stream call) started 1.00 ms before 1 (stream 1) had ended");
  EXPECT_EQ(stands_between(one, from_to("call", 2ms, 5ms), two).fact,
            "2 (stream 2) started 2.00 ms before call (stream call) had ended");
}

TEST(AVerdictOnPriority, CountsTheOvertaken) {
  std::vector const patient{from_to("1", 0ms, 2ms), from_to("2", 2ms, 4ms), from_to("3", 4ms, 6ms)};
  auto const verdict = overtakes({"high", "high", 2ms, 3ms}, patient);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "high, given last, started before 1 of the 3 given before it");
  EXPECT_FALSE(overtakes({"high", "high", 4ms, 9ms}, patient).as_expected);
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
