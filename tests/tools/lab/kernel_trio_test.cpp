// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tools/lab/held_laboratory.hpp"

namespace penstock::lab {
namespace {

using testing::ElementsAre;

TEST_P(HeldLaboratory, SeesATrioTakeTurnsWithTheLegacyStreamInBetween) {
  begin(legacy_between());
  held().await_given(3);
  expect_one_at_a_time({"A", "0", "B"});
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, SeesATrioRunAtOnceInNonBlockingStreams) {
  begin(legacy_beside());
  held().await_started(3);
  held().end_all();
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, DrawsATrioInTheOrderOfItsStory) {
  held().end_all();
  begin(legacy_between());
  EXPECT_THAT(rows_of(seen()), ElementsAre("stream A", "stream 0", "stream B"));
}

}  // namespace
}  // namespace penstock::lab
