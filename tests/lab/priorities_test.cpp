// SPDX-License-Identifier: Apache-2.0
#include "lab/cpu_laboratory.hpp"

namespace penstock::lab {
namespace {

using Priorities = CpuLaboratory;

TEST_F(Priorities, LetAnUrgentKernelGoBeforeThoseThatFindNoRoom) {
  begin(priority());
  held.await_given(5);
  held.await_started("low 1");
  held.end("low 1");
  held.await_started("high");
  EXPECT_FALSE(held.has_started("low 3"));
  EXPECT_FALSE(held.has_started("low 4"));
  held.end_all();
  EXPECT_TRUE(seen.get().verdict.as_expected);
}

}  // namespace
}  // namespace penstock::lab
