// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/held_laboratory.hpp"

namespace penstock::lab {
namespace {

std::string kernel(int i) {
  return std::to_string(i);
}
std::string stray(int i) {
  return "stray " + kernel(i);
}

TEST_P(HeldLaboratory, SeesStraysLeaveNothingConcurrentInTheLegacyStream) {
  begin(stray_legacy());
  held().await_given(16);
  std::vector<std::string> all;
  for (int i = 1; i <= 8; ++i) all.insert(all.end(), {kernel(i), stray(i)});
  expect_one_at_a_time(all);
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, SeesStraysHinderNobodyInAThreadsOwnStream) {
  begin(stray_per_thread());
  held().await_given(16);
  held().await_started(9);
  let_all_else_run();
  EXPECT_EQ(held().started().size(), 9u) << "the strays are in one stream";
  for (int i = 1; i <= 8; ++i) EXPECT_TRUE(held().has_started(kernel(i)));
  held().end(stray(1));
  held().await_started(stray(2));
  held().end_all();
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, DrawsStraysInTheLastRow) {
  held().end_all();
  for (auto const& experiment : {stray_legacy(), stray_per_thread()}) {
    begin(experiment);
    auto const rows = rows_of(seen());
    ASSERT_EQ(rows.size(), 16u);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(rows[i], "stream " + std::to_string(i + 1));
    for (std::size_t i = 8; i < 16; ++i) EXPECT_EQ(rows[i], "stream 0");
  }
}

}  // namespace
}  // namespace penstock::lab
