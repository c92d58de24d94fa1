// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/verdict/a_run_of_one_second.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

TEST_F(ARunOfOneSecond, IsOfferedNoProducersWhereTilesAreGivenOutOneAfterTheOther) {
  run.producers = 1;
  run.fill = 0.85;
  run.borrow_wait = 0;
  ASSERT_EQ(verdict().bound, Bound::fill);
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(2), 0.01) << "the source takes a seventh of the time to give one out";
  run.producers = 4;
  run.fill = 3.2;
  ASSERT_EQ(verdict().bound, Bound::fill);
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(1 / 0.8), 0.01) << "it may be that one is always at that";
}

TEST_F(ARunOfOneSecond, IsBoundByCpusWithNothingLeft) {
  run.cpus = 2;
  run.cpu_time = 1.95;
  Verdict seen = verdict();
  EXPECT_EQ(seen.bound, Bound::cpus) << describe(seen);
  EXPECT_EQ(seen.evidence.at(0), "2 CPUs had nothing left: this process used 98 % of their time.");
  EXPECT_TRUE(seen.advice.empty()) << "neither slots nor threads bring more CPUs";
  EXPECT_EQ(seen.streams_will_not_help.value().reason, NoStreams::host);
  run.cpu_time = 0.9;
  run.cpu_of_others = 1.1;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "it may as well sleep";
  run.cpu_time = 1.95;
  run.cpu_of_others = 0;
  run.gpu = true;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "most of that was spent watching the GPU";
}

/// Seen to fail if the time of others, which is measured in ticks, is taken as it is.
TEST_F(ARunOfOneSecond, HasNoMoreCpuTimeThanThereIs) {
  run.cpus = 2;
  run.cpu_of_others = 1.02;
  struct Case {
    double own;
    std::string words;
  };
  for (auto const& [own, words] :
       {Case{2.1, "this process used 100 % of their time."}, Case{2, "this process used 100 % of their time."},
        Case{1.95, "this process used 98 % of their time, other processes 2 %."},
        Case{1.8, "this process used 90 % of their time, other processes 10 %."},
        Case{1.2, "this process used 60 % of their time, other processes 40 %."}}) {
    run.cpu_time = own;
    Verdict const seen = verdict();
    ASSERT_EQ(seen.bound, Bound::cpus) << own;
    EXPECT_EQ(seen.evidence.at(0), "2 CPUs had nothing left: " + words);
  }
}

TEST_F(ARunOfOneSecond, OnACpuDeviceThatCopiesInVainIsToldOfThePromiseThatSpares) {
  run.cpus = 2;
  run.cpu_time = 1.95;
  run.copies_in_vain = true;
  Verdict const seen = verdict();
  ASSERT_EQ(seen.bound, Bound::cpus);
  EXPECT_THAT(seen.advice.at(0).change, HasSubstr("promises reads_once"));
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(2 / (1.95 - 0.6)), 0.01);
}

TEST_F(ARunOfOneSecond, BesideBusyProcessesIsAdvisedNothing) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  run.cpus = 8;
  run.cpu_time = 4;
  ASSERT_FALSE(verdict().advice.empty());
  run.cpu_of_others = 3;
  Verdict const seen = verdict();
  EXPECT_TRUE(seen.advice.empty());
  EXPECT_EQ(seen.no_advice,
            "Nothing is advised, because other processes used 38 % of the CPUs and left 12 %: on a quiet machine the "
            "bound may be another.");
  EXPECT_FALSE(seen.streams_will_not_help) << "the source may only be slow because its threads wait for CPUs";
  run.cpu_of_others = 1;
  EXPECT_EQ(verdict().advice.at(0).change, "--producers 7") << "three CPUs are free";
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(1.75), 0.01);
}

TEST_F(ARunOfOneSecond, IsAdvisedNothingIfItIsTooShortToTellWhetherOthersWereBusy) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  run.cpus = 8;
  run.cpu_time = 6.5;
  run.cpu_not_told = 0.5;
  ASSERT_FALSE(verdict().advice.empty()) << "if others had more than is known, it were too little";
  EXPECT_FALSE(too_short_to_judge(run, alone));
  run.cpu_not_told = 0.8;
  EXPECT_TRUE(verdict().advice.empty());
  EXPECT_TRUE(too_short_to_judge(run, alone));
  EXPECT_EQ(verdict().no_advice,
            "Nothing is advised, because the run was too short to tell whether other processes used the CPUs: give it "
            "more input.");
  run.cpu_time = 4;
  EXPECT_FALSE(verdict().advice.empty()) << "CPUs were free whatever others did";
}

TEST_F(ARunOfOneSecond, IsPromisedNoMoreProducersThanCpusAndNoMoreThanTheyAreWorthTogether) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  run.cpus = 6;
  EXPECT_EQ(verdict().advice.at(0).change, "--producers 6");
  run.cpus = 16;
  alone.fill = 10'300;
  alone.fill_twice = 18'300;  // Twice `fill` would be 20,600.
  EXPECT_EQ(verdict().advice.at(0).change, "--producers 8");
  EXPECT_NEAR(verdict().advice.at(0).gain, mostly(1.777), 0.01);
}

}  // namespace
}  // namespace penstock
