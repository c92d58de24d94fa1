// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/graph_capture.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::nanoseconds;

constexpr unsigned runs_until_trial = GraphChoice::warm_up + GraphChoice::samples;
constexpr unsigned a_minority = GraphChoice::samples / 2 - 1;

/// A choice by measurement, with times that are said and not taken.
struct AutomaticChoice : testing::Test {
  GraphChoice choice{Graphs::automatic};

  void run(unsigned times, nanoseconds took) {
    for (unsigned i = 0; i < times; ++i) choice.ran(took);
  }
  void launch(unsigned times, nanoseconds took) {
    for (unsigned i = 0; i < times; ++i) choice.launched(took);
  }
  /// It has decided, so that it wants no times any more.
  void expect_decided() const {
    EXPECT_FALSE(choice.times_runs());
    EXPECT_FALSE(choice.times_launches());
  }
};

TEST(GraphChoiceThatIsTold, NeverLaunchesOrAlways) {
  GraphChoice const never(Graphs::never);
  EXPECT_FALSE(never.launches());
  EXPECT_FALSE(never.captures());
  GraphChoice const always(Graphs::always);
  EXPECT_TRUE(always.launches());
  EXPECT_TRUE(always.captures());
  for (GraphChoice const& choice : {never, always}) {
    EXPECT_FALSE(choice.times_runs());
    EXPECT_FALSE(choice.times_launches());
  }
}

TEST_F(AutomaticChoice, RunsFirst) {
  run(runs_until_trial - 1, nanoseconds(10));
  EXPECT_TRUE(choice.times_runs());
  EXPECT_FALSE(choice.launches());
  EXPECT_FALSE(choice.captures());
  run(1, nanoseconds(10));
  EXPECT_FALSE(choice.times_runs());
  EXPECT_TRUE(choice.launches());
  EXPECT_TRUE(choice.captures());
  EXPECT_TRUE(choice.times_launches());
}

TEST_F(AutomaticChoice, KeepsGraphsThatAreFaster) {
  run(runs_until_trial, nanoseconds(10));
  launch(GraphChoice::samples - 1, nanoseconds(9));
  EXPECT_TRUE(choice.times_launches());
  launch(1, nanoseconds(9));
  expect_decided();
  EXPECT_TRUE(choice.launches());
  EXPECT_TRUE(choice.captures());
}

TEST_F(AutomaticChoice, KeepsRunsThatAreFaster) {
  run(runs_until_trial, nanoseconds(9));
  launch(GraphChoice::samples, nanoseconds(10));
  expect_decided();
  EXPECT_FALSE(choice.launches());
  EXPECT_FALSE(choice.captures());
}

TEST_F(AutomaticChoice, RunsAfterATie) {
  run(runs_until_trial, nanoseconds(10));
  launch(GraphChoice::samples, nanoseconds(10));
  expect_decided();
  EXPECT_FALSE(choice.launches());
}

TEST_F(AutomaticChoice, CountsNoRunThatWarmsUp) {
  run(GraphChoice::warm_up, nanoseconds(1));
  run(GraphChoice::samples, nanoseconds(10));
  launch(GraphChoice::samples, nanoseconds(9));
  EXPECT_TRUE(choice.launches());
}

TEST_F(AutomaticChoice, IsNotMisledByLaunchesThatWereHeldUp) {
  run(runs_until_trial, nanoseconds(10));
  launch(a_minority, nanoseconds(1'000'000));
  launch(GraphChoice::samples - a_minority, nanoseconds(9));
  EXPECT_TRUE(choice.launches());
}

TEST_F(AutomaticChoice, IsNotMisledByRunsThatHadNothingToDo) {
  run(GraphChoice::warm_up, nanoseconds(10));
  run(a_minority, nanoseconds(1));
  run(GraphChoice::samples - a_minority, nanoseconds(10));
  launch(GraphChoice::samples, nanoseconds(9));
  EXPECT_TRUE(choice.launches());
}

TEST_F(AutomaticChoice, CapturesInFewSlotsOnTrial) {
  run(runs_until_trial, nanoseconds(10));
  for (unsigned i = 0; i < GraphChoice::on_trial; ++i) {
    EXPECT_TRUE(choice.captures());
    choice.captured();
  }
  EXPECT_FALSE(choice.captures());
  launch(GraphChoice::samples, nanoseconds(9));
  EXPECT_TRUE(choice.captures()) << "it is no trial any more";
}

TEST_F(AutomaticChoice, RunsForEverOnceItGaveUp) {
  run(runs_until_trial, nanoseconds(10));
  choice.give_up();
  launch(2 * GraphChoice::samples, nanoseconds(1));
  run(2 * runs_until_trial, nanoseconds(10));
  expect_decided();
  EXPECT_FALSE(choice.launches());
  EXPECT_FALSE(choice.captures());
}

}  // namespace
}  // namespace penstock
