// SPDX-License-Identifier: Apache-2.0
#include "lab/cpu_laboratory.hpp"

namespace penstock::lab {
namespace {

struct KernelTrio : CpuLaboratory {
  void begin_all(Experiment const& experiment) {
    begin(experiment);
    for (char const* const label : {"A", "0", "B"}) held.await_given(label);
  }
};

TEST_F(KernelTrio, TakesTurnsWithTheLegacyStreamInBetween) {
  begin_all(legacy_between());
  held.await_running("A");
  let_all_else_run();
  EXPECT_FALSE(held.running("0"));
  EXPECT_FALSE(held.running("B"));
  held.end("A");
  held.await_running("0");
  let_all_else_run();
  EXPECT_FALSE(held.running("B"));
  held.end("0");
  held.await_running("B");
  held.end("B");
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

TEST_F(KernelTrio, RunsAtOnceInNonBlockingStreams) {
  begin_all(legacy_beside());
  for (char const* const label : {"A", "0", "B"}) held.await_running(label);
  held.end_all();
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

TEST_F(KernelTrio, HasRowsInTheOrderOfItsStory) {
  held.end_all();
  begin(legacy_between());
  auto const intervals = seen.get().intervals;
  ASSERT_EQ(intervals.size(), 3u);
  EXPECT_EQ(intervals[0].row, "stream A");
  EXPECT_EQ(intervals[1].row, "stream 0");
  EXPECT_EQ(intervals[2].row, "stream B");
}

}  // namespace
}  // namespace penstock::lab
