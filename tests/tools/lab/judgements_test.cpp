// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/judgements.hpp"

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

ClocksSeen const trap{.over = false, .launch = 10us, .behind = 40ms, .events = 20ms};

TEST(AVerdictOnClocks, IsAsExpectedIfTheHostSawTooLittleAndTooMuch) {
  auto const verdict = verdict_on_clocks(trap);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "the launch returned after 10.0 us, before the kernel was over; behind an earlier kernel, launch and "
            "synchronize took the host 40.0 ms for a kernel that took 20.0 ms by events");
}

TEST(AVerdictOnClocks, WantsALaunchThatReturnsBeforeItsKernelIsOver) {
  auto seen = trap;
  seen.over = true;
  EXPECT_FALSE(verdict_on_clocks(seen).as_expected);
}

TEST(AVerdictOnClocks, WantsTheHostToSeeHalfAKernelMore) {
  auto seen = trap;
  seen.behind = 30ms;
  EXPECT_FALSE(verdict_on_clocks(seen).as_expected);
  seen.behind = 31ms;
  EXPECT_TRUE(verdict_on_clocks(seen).as_expected);
}

ElapsedSeen const honest{.early = 0, .late = 20ms, .refused = true};

TEST(AVerdictOnElapsedTime, IsAsExpectedIfThereIsANumberOnlyOnceItIsKnown) {
  auto const verdict = verdict_on_elapsed(honest);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "before the kernel could begin since() had no number; behind it 20.0 ms; events that keep no time were "
            "refused");
}

TEST(AVerdictOnElapsedTime, BearsNoNumberBeforeThat) {
  auto seen = honest;
  seen.early = 1;
  EXPECT_FALSE(verdict_on_elapsed(seen).as_expected);
}

TEST(AVerdictOnElapsedTime, WantsOneInTheEnd) {
  auto seen = honest;
  seen.late.reset();
  EXPECT_FALSE(verdict_on_elapsed(seen).as_expected);
  seen.late = 0ms;
  EXPECT_FALSE(verdict_on_elapsed(seen).as_expected);
}

TEST(AVerdictOnElapsedTime, WantsEventsRefusedThatKeepNone) {
  auto seen = honest;
  seen.refused = false;
  EXPECT_FALSE(verdict_on_elapsed(seen).as_expected);
}

RaceSeen const race{.all = 8, .right = 4, .without = {.wrong = 7, .seen = 0}, .with = {.wrong = 0, .seen = 4}};

TEST(AVerdictOnARace, IsAsExpectedIfTheEventMakesTheDifference) {
  auto const verdict = verdict_on_race(race);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "without the event 7 of 8 results were wrong, 0 instead of 4; with it all 8 results were right");
}

TEST(AVerdictOnARace, WantsWrongResultsWithoutTheEvent) {
  auto seen = race;
  seen.without = {.wrong = 0, .seen = 4};
  EXPECT_FALSE(verdict_on_race(seen).as_expected);
}

TEST(AVerdictOnARace, BearsNoneWithIt) {
  auto seen = race;
  seen.with = {.wrong = 1, .seen = 2.5F};
  auto const verdict = verdict_on_race(seen);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_NE(verdict.fact.find("with it 1 of 8 results were wrong, 2.5 instead of 4"), std::string::npos);
}

penstock::Verdict const full_link{
    .bound = Bound::upload,
    .streams_will_not_help = WhyNoStreams{NoStreams::link_full, "Streams will not help here, because of the link."}};

TEST(AVerdictOnAVerdict, IsAsExpectedIfThatGivesTheReasonWhyStreamsWillNotHelp) {
  auto const verdict = verdict_on_no_help(full_link, NoStreams::link_full);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "the bound is \"upload\"; \"Streams will not help here, because of the link\"");
}

TEST(AVerdictOnAVerdict, BearsNoOtherReasonAndNoneAtAll) {
  EXPECT_FALSE(verdict_on_no_help(full_link, NoStreams::barrier).as_expected);
  auto without = full_link;
  without.streams_will_not_help.reset();
  auto const verdict = verdict_on_no_help(without, NoStreams::link_full);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "the bound is \"upload\", and the verdict says nothing of streams");
}

}  // namespace
}  // namespace penstock::lab
