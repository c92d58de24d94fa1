// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "course/held_laboratory.hpp"

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

void end_four(support::HeldKernels& held, std::string const& label) {
  for (int i = 1; i <= 4; ++i) held.end(label + std::to_string(i));
}

TEST_P(HeldLaboratory, SeesALibraryJoinThreadsThatUseTheirDefaultStreams) {
  begin(library_joins());
  held().await_given(9);
  held().await_started(4);
  for (int i = 1; i <= 4; ++i) {
    let_all_else_run();
    EXPECT_EQ(held().started().size(), 4u) << "one of those before it still runs";
    held().end("first " + std::to_string(i));
  }
  held().await_started("call");
  let_all_else_run();
  EXPECT_EQ(held().started().size(), 5u) << "the call still runs";
  held().end("call");
  held().await_started(9);
  end_four(held(), "second ");
  EXPECT_TRUE(verdict().as_expected);
}

TEST_P(HeldLaboratory, SeesALibraryBesideNonBlockingStreams) {
  begin(library_beside());
  held().await_started(5);
  end_four(held(), "first ");
  held().await_started(9);
  end_four(held(), "second ");
  held().end("call");
  EXPECT_TRUE(verdict().as_expected);
}

}  // namespace
}  // namespace penstock::lab
