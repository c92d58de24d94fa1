// SPDX-License-Identifier: Apache-2.0
#include "course/judgements.hpp"

#include <vector>

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

WaitSeen const wait_of_a{.way = "Stream::synchronize",
                         .returns_behind = {.a = true},
                         .goes_on_behind = {.a = true},
                         .at_return = {.a = true},
                         .at_going_on = {.a = true}};

TEST(AVerdictOnWaits, IsAsExpectedIfEachIsForWhatItNames) {
  auto const verdict = verdict_on_waits(std::vector{wait_of_a});
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "each of the 1 calls kept the host, and stream A, for what it names and no longer");
}

TEST(AVerdictOnWaits, IsDisprovedByOneThatIsTooShort) {
  auto early = wait_of_a, overtaking = wait_of_a;
  early.at_return.a = false;
  overtaking.at_going_on.a = false;
  EXPECT_TRUE(verdict_on_waits(std::vector{wait_of_a, early}).disproved);
  EXPECT_TRUE(verdict_on_waits(std::vector{overtaking}).disproved);
  EXPECT_EQ(verdict_on_waits(std::vector{early}).fact,
            "Stream::synchronize returned when this was over: nothing; it should be A");
}

TEST(AVerdictOnWaits, IsNotDisprovedByOneThatIsTooLong) {
  auto long_call = wait_of_a, long_stream = wait_of_a;
  long_call.at_return = {.a = true, .event = true};
  long_stream.at_going_on.b = true;
  for (auto const& one : {long_call, long_stream}) {
    EXPECT_FALSE(verdict_on_waits(std::vector{one}).as_expected);
    EXPECT_FALSE(verdict_on_waits(std::vector{one}).disproved);
  }
  EXPECT_EQ(verdict_on_waits(std::vector{long_stream}).fact,
            "behind Stream::synchronize stream A went on when this was over: A, B; it should be A");
}

TEST(StepsOfEvents, AreTheShortestTimeAndTheSmallestDifference) {
  auto const steps = steps_of({0ns, 1500ns, 500ns, 501ns, 3us});
  EXPECT_EQ(steps.shortest, 500ns);
  EXPECT_EQ(steps.step, 500ns);
  EXPECT_FALSE(steps.negative);
  EXPECT_EQ(verdict_on_event_steps(steps).fact,
            "the shortest time between two events that is not 0 was 500 ns, and times differed by steps of 500 ns at "
            "least");
  EXPECT_TRUE(verdict_on_event_steps(steps).as_expected);
}

TEST(StepsOfEvents, AreNotAsExpectedIfTimesAreCoarseOrTheSameOrBelowZero) {
  EXPECT_FALSE(verdict_on_event_steps(steps_of({2us, 4us})).as_expected);
  EXPECT_FALSE(verdict_on_event_steps(steps_of({2us, 2us})).as_expected);
  EXPECT_FALSE(verdict_on_event_steps(steps_of({-1us, 0us, 500ns})).as_expected);
}

TEST(AVerdictOnCopiesBesideKernels, SaysWhatTheyKeepAndWantsThemAtTheSameTime) {
  CopiesBesideSeen seen{.alone = 50e9, .by_memory = 25e9, .by_arithmetic = 50e9};
  auto const verdict = verdict_on_copies_beside(seen);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "beside kernels that memory bounds, copies came to 25.0 GB/s, 50 % of alone, and beside kernels that "
            "arithmetic bounds to 50.0 GB/s, 100 % of alone");
  seen.beside = false;
  EXPECT_FALSE(verdict_on_copies_beside(seen).as_expected);
}

TEST(AVerdictOnNodes, WantsTheNearOneToBeAsFastAsTheFarOne) {
  std::vector<NodeCopies> seen{{.node = 0, .near = true, .up = 50e9, .down = 50e9},
                               {.node = 1, .near = false, .up = 30e9, .down = 25e9}};
  EXPECT_TRUE(verdict_on_nodes(seen).as_expected);
  EXPECT_EQ(verdict_on_nodes(seen).fact,
            "memory of node 0 (near) went up at 50.0 GB/s and down at 50.0 GB/s; of node 1 (far) went up at 30.0 GB/s "
            "and down at 25.0 GB/s");
  seen[1].down = 60e9;
  EXPECT_FALSE(verdict_on_nodes(seen).as_expected);
  seen[0].near = seen[1].near = std::nullopt;
  EXPECT_TRUE(verdict_on_nodes(seen).as_expected) << "nothing is near";
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

TEST(AVerdictOnOrderedMemory, WantsALoopThatWaitsForNothingAndRightResults) {
  OrderedMemorySeen seen{.waits = 80ms, .loop = 1ms, .all = 8};
  EXPECT_TRUE(verdict_on_ordered_memory(seen).as_expected);
  EXPECT_EQ(verdict_on_ordered_memory(seen).fact,
            "in the order of a stream the loop took 1.00 ms, before the stream went on, and with memory of the device "
            "it waited 80.0 ms; all 8 results were right");
  seen.wrong = 1;
  EXPECT_FALSE(verdict_on_ordered_memory(seen).as_expected);
  seen = {.over = true};
  EXPECT_FALSE(verdict_on_ordered_memory(seen).as_expected);
}

LateErrorSeen const late{.by = "synchronize", .by_with_waits = "launch 2", .lost = true, .names_cause = true};

TEST(AVerdictOnALateError, IsAsExpectedIfOnlyTheCallThatWaitsTellsOfIt) {
  auto const verdict = verdict_on_late_error(late);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(
      verdict.fact,
      "the first call that said it was synchronize; with a wait behind each call it was launch 2; the device is lost, "
      "and it said why");
  auto seen = late;
  seen.by_with_waits = "launch 3";
  EXPECT_FALSE(verdict_on_late_error(seen).as_expected);
  seen = late;
  seen.by = "launch 3";
  EXPECT_FALSE(verdict_on_late_error(seen).as_expected);
  EXPECT_FALSE(verdict_on_late_error({}).as_expected);
}

TEST(AVerdictOnALateError, WantsTheLaunchToTellOfItIfEachLaunchWaits) {
  auto seen = late;
  seen.blocking = true;
  EXPECT_FALSE(verdict_on_late_error(seen).as_expected);
  seen.by = "launch 2";
  EXPECT_TRUE(verdict_on_late_error(seen).as_expected);
}

TEST(AVerdictOnALateError, WantsTheDeviceLostAndTheCauseNamed) {
  auto seen = late;
  seen.lost = false;
  EXPECT_FALSE(verdict_on_late_error(seen).as_expected);
  seen = late;
  seen.names_cause = false;
  EXPECT_FALSE(verdict_on_late_error(seen).as_expected);
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

/// A gigabyte by a device that moves 1 TB and does 20 T operations in a second.
std::vector<RooflinePoint> points_of_a_device() {
  return {{1, 1ms}, {4, 1ms}, {16, 1100us}, {64, 3300us}, {256, 12'800us}};
}

TEST(AVerdictOnARoofline, SaysWhereMemoryStopsToBoundAndArithmeticBegins) {
  auto const points = points_of_a_device();
  auto const seen = roofline_of(points, 1e9);
  EXPECT_DOUBLE_EQ(seen.memory, 1e12);
  EXPECT_DOUBLE_EQ(seen.arithmetic, 2e13);
  EXPECT_DOUBLE_EQ(seen.meet(), 20);
  EXPECT_EQ(seen.memory_bound, 3u);
  EXPECT_EQ(seen.arithmetic_bound, 2u);
  auto const verdict = verdict_on_roofline(points, 1e9, 0, true);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "memory bounds up to 16 operations a byte, at 1000 GB/s, and arithmetic from 64 on, at 20 TFLOP/s; the two "
            "meet at 20; all results were right");
}

TEST(AVerdictOnARoofline, WantsTimeToGrowWithOperationsInTheEnd) {
  std::vector<RooflinePoint> const flat{{1, 1ms}, {4, 1ms}, {16, 1ms}, {64, 1900us}};
  EXPECT_FALSE(verdict_on_roofline(flat, 1e9, 0, false).as_expected);
  std::vector<RooflinePoint> const grown{{1, 1ms}, {4, 1ms}, {16, 1ms}, {64, 2ms}};
  EXPECT_TRUE(verdict_on_roofline(grown, 1e9, 0, false).as_expected);
}

TEST(AVerdictOnARoofline, WantsTwoPointsOnEachSideWhereTimeIsToBeTrusted) {
  std::vector<RooflinePoint> const no_memory{{1, 1ms}, {4, 4ms}, {16, 16ms}};
  EXPECT_FALSE(verdict_on_roofline(no_memory, 1e9, 0, true).as_expected);
  EXPECT_TRUE(verdict_on_roofline(no_memory, 1e9, 0, false).as_expected);
  std::vector<RooflinePoint> const no_arithmetic{{1, 1ms}, {4, 1ms}, {16, 2ms}};
  EXPECT_FALSE(verdict_on_roofline(no_arithmetic, 1e9, 0, true).as_expected);
}

TEST(AVerdictOnARoofline, BearsNoWrongResult) {
  auto const verdict = verdict_on_roofline(points_of_a_device(), 1e9, 3, true);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_NE(verdict.fact.find("3 results were wrong"), std::string::npos);
}

TEST(AVerdictOnAGridBarrier, WantsRightResultsARefusalAndNoKernelBeside) {
  EXPECT_EQ(
      verdict_on_grid_barrier({.refused = true, .all = 8, .by_launches = 7us, .by_barriers = 800ns}).fact,
      "all 8 results were right; a round took 7.00 us by launches and 0.80 us by barriers; more blocks than fit were "
      "refused");
  EXPECT_TRUE(verdict_on_grid_barrier({.refused = true, .all = 8}).as_expected);
  EXPECT_FALSE(verdict_on_grid_barrier({.refused = false, .all = 8}).as_expected);
  EXPECT_FALSE(verdict_on_grid_barrier({.refused = true, .wrong = 1, .all = 8}).as_expected);
  EXPECT_TRUE(verdict_on_grid_barrier({.refused = true, .all = 8, .other_waited = true}).as_expected);
  EXPECT_FALSE(verdict_on_grid_barrier({.refused = true, .all = 8, .other_waited = false}).as_expected);
}

}  // namespace
}  // namespace penstock::lab
