// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/effort.hpp"

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

/// Seen to fail with no time to settle.
TEST(AnEffort, LetsThoseSettleThatCaptureWhereOthersDoNot) {
  for (Effort const effort : {Effort::glance, Effort::look}) {
    for (Graphs const graphs : {Graphs::automatic, Graphs::always}) {
      TrialOptions const longer = trial_options(effort, {.graphs = graphs}, true);
      EXPECT_GE(longer.warm_up + longer.settling, std::chrono::milliseconds(50)) << "a lane's captures, and more";
      EXPECT_EQ(trial_options(effort, {.graphs = graphs}, false).settling.count(), 0) << "all are alike";
    }
    EXPECT_EQ(trial_options(effort, {.graphs = Graphs::never}, true).settling.count(), 0);
  }
}

TEST(AnEffort, OfLatencyIsGivenUpWhereTilesQueue) {
  for (Effort const effort : {Effort::glance, Effort::look}) {
    EXPECT_GT(trial_options(effort, {}, false, Aim::latency).most_late.count(), 0);
    EXPECT_EQ(trial_options(effort, {}, false).most_late.count(), 0);
  }
}

TEST(AnEffort, IsMoreForALook) {
  EXPECT_GT(trial_options(Effort::look, {}, false).window, trial_options(Effort::glance, {}, false).window);
}

}  // namespace
}  // namespace penstock::measure
