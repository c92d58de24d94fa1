// SPDX-License-Identifier: Apache-2.0
#include "lab/cpu_laboratory.hpp"
#include <gmock/gmock.h>

namespace penstock::lab {
namespace {

using testing::ElementsAre;

using KernelTrio = CpuLaboratory;

TEST_F(KernelTrio, TakesTurnsWithTheLegacyStreamInBetween) {
  begin(legacy_between());
  held.await_given(3);
  expect_one_at_a_time({"A", "0", "B"});
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

TEST_F(KernelTrio, RunsAtOnceInNonBlockingStreams) {
  begin(legacy_beside());
  held.await_started(3);
  held.end_all();
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

TEST_F(KernelTrio, HasRowsInTheOrderOfItsStory) {
  held.end_all();
  begin(legacy_between());
  EXPECT_THAT(rows_of(seen.get()), ElementsAre("stream A", "stream 0", "stream B"));
}

}  // namespace
}  // namespace penstock::lab
