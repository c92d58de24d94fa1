// SPDX-License-Identifier: Apache-2.0
#include "support/thread_state.hpp"

#include "course/held_laboratory.hpp"

namespace penstock::lab {
namespace {

TEST_P(HeldLaboratory, SeesACallToCopyReturnBeforeTheKernelAheadOfItOnTheCpuDevice) {
  begin(pageable_copy());
  held().await_given(1);
  held().await_started("kernel");
  // It sleeps through what else runs only once it has come back from the call and waits for the stream. Before, it may
  // have to wait for a thread that has the device in hand, but while it sleeps for that it is woken by what else runs.
  for (std::optional<std::uint64_t> before;;) {
    let_all_else_run();
    support::await_asleep(held().giver());
    auto const now = support::times_asleep(held().giver());
    if (before == now) break;
    before = now;
  }
  held().end_all();
  auto const seen_all = seen();
  EXPECT_EQ(rows_of(seen_all),
            (std::vector<std::string>{"pinned", "pinned", "pinned call", "pageable", "pageable", "pageable call"}));
  EXPECT_NE(seen_all.verdict.fact.find("the call for pinned memory returned"), std::string::npos);
  EXPECT_LT(seen_all.intervals[2].end, seen_all.intervals[0].end) << "the call, and the kernel";
  EXPECT_EQ(seen_all.figures.size(), 4u);
}

}  // namespace
}  // namespace penstock::lab
