// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/held_laboratory.hpp"

namespace penstock::lab {
namespace {

TEST_P(HeldLaboratory, SeesBothUploadsAwaitedHoweverLateOneIs) {
  begin(two_uploads());
  held().await_started("delay");
  for (int i = 0; i < 100; ++i) let_all_else_run();
  held().end("delay");
  auto const found = verdict();
  EXPECT_TRUE(found.as_expected) << found.fact;
}

TEST_P(HeldLaboratory, DrawsUploadsWithTheKernelThatWaitsForThem) {
  held().end_all();
  begin(two_uploads());
  EXPECT_EQ(rows_of(seen()), (std::vector<std::string>{"stream A", "stream B", "stream B", "stream C", "stream C"}));
}

}  // namespace
}  // namespace penstock::lab
