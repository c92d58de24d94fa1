// SPDX-License-Identifier: Apache-2.0
#include "course/timeline.hpp"

#include <vector>

#include <gmock/gmock.h>
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

TEST(Intervals, HaveRowsOfTheEnginesBehindThoseOfTheStreams) {
  std::vector<Interval> const some{{"stream 1", "up", 0ns, 10ns, Engine::up},
                                   {"stream 2", "up", 0ns, 20ns, Engine::up},
                                   {"stream 1", "kernel", 10ns, 30ns, Engine::kernels},
                                   {"host", "fill", 10ns, 20ns, Engine::none},
                                   {"stream 1", "down", 30ns, 40ns, Engine::down}};
  auto const all = with_engines(some);
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[4].label, "down") << "the others stay as they were";
  EXPECT_EQ(all[5].row, "copies up");
  EXPECT_EQ(all[5].label, "1");
  EXPECT_EQ(all[6].label, "2");
  EXPECT_EQ(all[6].start, 10ns) << "it waited for the engine";
  EXPECT_EQ(all[7].row, "kernels");
  EXPECT_EQ(all[8].row, "copies down");
  EXPECT_EQ(with_engines(std::span(some).first(4)).size(), 4u) << "nothing went down";
}

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ATimeline, HasARowForEachStreamAndAnAxis) {
  std::vector<Interval> const three{
      {"stream A", "A", 0ms, 20ms}, {"stream 0", "0", 20ms, 40ms}, {"stream B", "B", 40ms, 60ms}};
  EXPECT_THAT(draw(three, 40),
              ElementsAre("stream A  [A=======]",            //
                          "stream 0            [0=======]",  //
                          "stream B                      [B=======]", "          0                      60.0 ms"));
}

TEST(ATimeline, PutsWhatRanInOneStreamOnOneRow) {
  std::vector<Interval> const three{{"a", "up", 0us, 100us}, {"b", "up", 50us, 150us}, {"a", "down", 100us, 200us}};
  auto const lines = draw(three, 40);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0], "a  [up===============][down============]");
  EXPECT_EQ(lines[1], "b           [up===============]");
}

TEST(ATimeline, ShowsWhatIsTooShortToHaveALength) {
  std::vector<Interval> const two{{"a", "long", 0ms, 1000ms}, {"b", "first", 0ms, 0ms}, {"b", "last", 1000ms, 1000ms}};
  auto const lines = draw(two, 40);
  EXPECT_EQ(lines[1], "b  | first                        last |");
}

TEST(ATimeline, PutsLabelsOnlyWhereThereIsRoom) {
  std::vector<Interval> const some{{"a", "all of it", 0ms, 37ms},
                                   {"b", "one", 0ms, 1ms},
                                   {"b", "two", 3ms, 4ms},
                                   {"b", "three", 4ms, 5ms},
                                   {"b", "four", 30ms, 37ms}};
  auto const lines = draw(some, 40);
  EXPECT_EQ(lines[1], "b  |  || three                   [four=]");
}

TEST(ATimeline, StartsWithWhateverStartsFirst) {
  std::vector<Interval> const two{{"a", "x", 70ms, 80ms}, {"b", "y", 60ms, 70ms}};
  auto const lines = draw(two, 41);
  EXPECT_EQ(lines[0], "a                     [x================]");
  EXPECT_EQ(lines[1], "b  [y================]");
  EXPECT_THAT(lines[2], testing::EndsWith("20.0 ms"));
}

TEST(ATimeline, KeepsToItsColumns) {
  std::vector<Interval> const some{{"a stream whose name is much too long for any terminal", "label too", 0ms, 1ms},
                                   {"b", "", 999us, 1ms}};
  for (std::size_t columns = narrowest; columns < 130; ++columns) {
    EXPECT_THAT(draw(some, columns), Each(SizeIs(testing::Le(columns)))) << columns;
  }
  EXPECT_THAT(draw(some, 3), Each(SizeIs(testing::Le(narrowest))));
}

TEST(ATimeline, OfNothingIsNothing) {
  EXPECT_THAT(draw({}, 80), IsEmpty());
}

TEST(ATimeline, OfNoTimeAtAllIsDrawnAllTheSame) {
  std::vector<Interval> const none{{"a", "x", 5ms, 5ms}};
  EXPECT_THAT(draw(none, 40), SizeIs(2));
}

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

TEST(AVerdictByALateClock, ExcusesOnlyWhatWasNotDisproved) {
  Verdict const expected = by_late_clock({.as_expected = true, .fact = "both ran at once"});
  EXPECT_TRUE(expected.as_expected);
  EXPECT_FALSE(expected.late);
  EXPECT_EQ(expected.fact, "both ran at once");
  Verdict const other = by_late_clock({.fact = "one ran behind the other"});
  EXPECT_TRUE(other.late);
  EXPECT_EQ(other.fact, "the clock was late, and with that one ran behind the other");
  Verdict const wrong = by_late_clock({.fact = "a result is wrong", .disproved = true});
  EXPECT_FALSE(wrong.late);
  EXPECT_EQ(wrong.fact, "a result is wrong");
}

}  // namespace
}  // namespace penstock::lab
