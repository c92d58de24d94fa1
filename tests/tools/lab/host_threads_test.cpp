// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/held_laboratory.hpp"

namespace penstock::lab {
namespace {

TEST_P(HeldLaboratory, SeesThreadsTakeTurnsInTheLegacyStream) {
  begin(threads_legacy());
  held().await_given(8);
  for (std::size_t count = 1; count <= 8; ++count) {
    held().await_started(count);
    let_all_else_run();
    EXPECT_EQ(held().started().size(), count);
    held().end(held().started().at(count - 1));
  }
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, SeesThreadsRunAtOnceInTheirOwnStreams) {
  begin(threads_per_thread());
  held().await_started(8);
  held().end_all();
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, DrawsThreadsByTheirNumbers) {
  held().end_all();
  begin(threads_per_thread());
  auto const rows = rows_of(seen());
  ASSERT_EQ(rows.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(rows[i], "thread " + std::to_string(i + 1));
}

}  // namespace
}  // namespace penstock::lab
