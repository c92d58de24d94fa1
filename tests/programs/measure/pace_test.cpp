// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/pace.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "engine/core/too_slow.hpp"

namespace penstock::measure {
namespace {

TEST(LeavesFactorOpen, UnlessANameSaysOneOrIsNoModel) {
  for (char const* open : {"model:h200", "model:h200,model:h200", "model:mine@work.json", "model:mine@"})
    EXPECT_TRUE(leaves_factor_open(open)) << open;
  for (char const* said : {"model:h200@50", "model:h200,model:h100@30", "cpu", "cuda:0", "model:h200,cpu", ""})
    EXPECT_FALSE(leaves_factor_open(said)) << said;
}

TEST(FactorOf, IsTheOneOfTheFirstName) {
  EXPECT_EQ(factor_of("model:h200@50,model:h100@50"), 50u);
  EXPECT_EQ(factor_of("model:h200"), least_factor);
}

/// A machine whose CPUs the probe keeps busy, so that 4,000 of 48,000 tiles come through.
struct ABusyProbe : testing::Test {
  PaceProbe probe{.tiles_per_second = 4000, .most_per_second = 48'000, .busy_part_of_cpus = 1};
};

TEST_F(ABusyProbe, LeavesRoomForWhatIsToCome) {
  EXPECT_EQ(factor_for(probe), 40u) << "twelve times as much, on less than a third of the CPUs";
  probe.tiles_per_second = 400;
  EXPECT_EQ(factor_for(probe), 400u);
  probe.tiles_per_second = 0;
  EXPECT_EQ(factor_for(probe), 10'000u);
}

TEST_F(ABusyProbe, IsNotAskedForMoreThanTheModelHasTo) {
  probe.busy_part_of_cpus = 0.2;
  EXPECT_EQ(factor_for(probe), least_factor) << "the model's kernels bound it, not this machine";
}

TEST_F(ABusyProbe, IsSlowerWhereOthersKeepThreadsWaiting) {
  probe.tiles_per_second = 24'000;
  EXPECT_EQ(factor_for(probe), least_factor);
  probe.part_of_others = 0.8;
  EXPECT_EQ(factor_for(probe), 100u);
  probe.tiles_per_second = 400;
  EXPECT_EQ(factor_for(probe), 100u) << "a fifth of the CPUs was its own";
  probe.tiles_per_second = 100;
  EXPECT_EQ(factor_for(probe), 350u);
}

/// The default sweep of one point took 24 to 30 s with factors of 120 to 140.
TEST(ExpectedSeconds, AreThoseOfTheDefaultSweep) {
  SweepToCome sweep{.runs = 3, .more_runs = 2, .rounds_alone = 1, .milliseconds = 12, .factor = 120};
  EXPECT_NEAR(expected_seconds(sweep), 25, 3);
  sweep.factor = 140;
  EXPECT_NEAR(expected_seconds(sweep), 29, 3);
}

TEST(ExpectedSeconds, AreInProportionToPointsAndFactor) {
  SweepToCome const one{.runs = 3, .milliseconds = 40, .factor = 50};
  SweepToCome many = one;
  many.points = 4;
  EXPECT_DOUBLE_EQ(expected_seconds(many), 4 * expected_seconds(one));
  many = one;
  many.factor = 100;
  EXPECT_GT(expected_seconds(many), 1.5 * expected_seconds(one));
  many = one;
  many.rounds_alone = 1;
  EXPECT_GT(expected_seconds(many), expected_seconds(one));
}

std::string late(unsigned factor) {
  return std::string(too_slow_for_its_clock) + ": 7 % were late. Times may be too long; " +
         std::string(larger_factor_would_do) + std::to_string(factor) + ".";
}

TEST(ARemarkOnALateClock, CountsIfNoOtherWantsALargerFactor) {
  std::string kept;
  keep_worst("", kept);
  EXPECT_EQ(kept, "");
  for (unsigned const factor : {60u, 200u, 80u}) keep_worst(late(factor), kept);
  EXPECT_EQ(kept, late(200));
  EXPECT_EQ(lateness_in(R"({"points": [{"remarks": []}, {"error": "no memory"}]})"), "");
  EXPECT_EQ(
      lateness_in(R"({"points": [{"remarks": [")" + late(60) + R"("]}, {"remarks": ["a", ")" + late(90) + R"("]}]})"),
      late(90));
}

/// A sweep of one point whose clock was late.
struct ALateSweep : testing::Test {
  SweepToCome sweep{.runs = 3, .more_runs = 2, .rounds_alone = 1, .milliseconds = 40, .factor = 20};
};

TEST_F(ALateSweep, HasTimeForALargerFactor) {
  EXPECT_GE(most_seconds(sweep), 60);
  EXPECT_EQ(raised_factor(sweep, 60, most_seconds(sweep)), 60u);
  sweep.points = 100;
  EXPECT_GE(most_seconds(sweep), 2 * expected_seconds(sweep));
}

TEST_F(ALateSweep, TakesNoLongerThanItMay) {
  auto const raised = raised_factor(sweep, 10'000, 30);
  ASSERT_TRUE(raised);
  sweep.factor = *raised;
  EXPECT_LE(expected_seconds(sweep), 30);
  sweep.factor += 10;
  EXPECT_GT(expected_seconds(sweep), 30) << "there was time for more";
}

TEST_F(ALateSweep, StaysAsItIsIfThatWouldBeInVain) {
  EXPECT_EQ(raised_factor(sweep, 24, 1000), std::nullopt) << "hardly slower";
  EXPECT_EQ(raised_factor(sweep, 0, 1000), std::nullopt) << "nothing is advised";
  EXPECT_EQ(raised_factor(sweep, 80, 5), std::nullopt) << "no time is left";
  EXPECT_EQ(raised_factor(sweep, 80, -5), std::nullopt);
}

TEST(AffordableFactor, TakesNoMoreThanTwoMinutesButForSixTimesTheLeast) {
  SweepToCome sweep{.points = 1, .runs = 3, .milliseconds = 40};
  EXPECT_EQ(affordable_factor(sweep, 150), 262u) << "a sweep does more than a probe";
  EXPECT_EQ(affordable_factor(sweep, least_factor), least_factor);
  sweep.factor = affordable_factor(sweep, 10'000);
  EXPECT_LE(expected_seconds(sweep), 120);
  sweep.factor += 10;
  EXPECT_GT(expected_seconds(sweep), 120);
  sweep.points = 100;
  EXPECT_EQ(affordable_factor(sweep, 10'000), 120u);
  EXPECT_EQ(affordable_factor(sweep, 80), 120u);
  EXPECT_EQ(affordable_factor(sweep, 40), 70u);
}

TEST(PaceText, SaysTheFactorIfItWasChosen) {
  SweepToCome const sweep{.points = 6, .runs = 3, .milliseconds = 40, .factor = 50};
  EXPECT_EQ(pace_text(sweep, false), "This takes about 80 s.");
  EXPECT_EQ(pace_text(sweep, true),
            "By a probe of this machine the clock of the model is 50 times slower; --slower N takes another factor. "
            "This takes about 80 s, or up to 3 min if that turns out to be too fast for it.");
  EXPECT_EQ(pace_text(50, 340),
            "By a probe of this machine the clock of the model is 50 times slower; --slower N takes another factor. "
            "This takes about 6 min.");
}

}  // namespace
}  // namespace penstock::measure
