// SPDX-License-Identifier: Apache-2.0
#include "course/held_laboratory.hpp"

namespace penstock::lab {
namespace {

TEST_P(HeldLaboratory, SeesAnUrgentKernelGoBeforeThoseThatFindNoRoom) {
  begin(priority());
  held().await_given(5);
  held().await_started("low 1");
  held().end("low 1");
  held().await_started("high");
  EXPECT_FALSE(held().has_started("low 3"));
  EXPECT_FALSE(held().has_started("low 4"));
  held().end_all();
  EXPECT_TRUE(verdict().as_expected);
}

}  // namespace
}  // namespace penstock::lab
