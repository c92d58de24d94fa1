// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/pace.hpp"

#include <gtest/gtest.h>

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

TEST(PaceText, SaysTheFactorIfItWasChosen) {
  EXPECT_EQ(pace_text(50, false, 24.3), "This takes about 24 s.");
  EXPECT_EQ(pace_text(50, true, 340),
            "By a probe of this machine the clock of the model is 50 times slower; --slower N takes another factor. "
            "This takes about 6 min.");
}

}  // namespace
}  // namespace penstock::measure
