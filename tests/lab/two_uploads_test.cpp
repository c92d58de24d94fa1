// SPDX-License-Identifier: Apache-2.0
#include "lab/cpu_laboratory.hpp"

namespace penstock::lab {
namespace {

using TwoUploads = CpuLaboratory;

TEST_F(TwoUploads, AreBothAwaitedHoweverLateOneIs) {
  begin(two_uploads());
  held.await_started("delay");
  for (int i = 0; i < 100; ++i) let_all_else_run();
  held.end("delay");
  auto const verdict = seen.get().verdict;
  EXPECT_TRUE(verdict.as_expected) << verdict.fact;
}

TEST_F(TwoUploads, AreDrawnWithTheKernelThatWaitsForThem) {
  held.end_all();
  begin(two_uploads());
  EXPECT_EQ(rows_of(seen.get()),
            (std::vector<std::string>{"stream A", "stream B", "stream B", "stream C", "stream C"}));
}

}  // namespace
}  // namespace penstock::lab
