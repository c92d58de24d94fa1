// SPDX-License-Identifier: Apache-2.0
#include "course/held_laboratory.hpp"

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

std::vector<std::string> issued(Observation const& observation, std::size_t first, std::size_t count) {
  std::vector<std::string> issued;
  for (auto const& interval : std::span(observation.intervals).subspan(first, count)) {
    issued.push_back(interval.row + ": " + interval.label);
  }
  return issued;
}

TEST_P(HeldLaboratory, IssuesDepthFirstAndThenBreadthFirst) {
  held().end_all();
  begin(issue_order());
  auto const observation = seen();
  ASSERT_EQ(observation.intervals.size(), 24u);
  EXPECT_EQ(issued(observation, 0, 4),
            (std::vector<std::string>{"depth 1: up", "depth 1: kernel", "depth 1: down", "depth 2: up"}));
  EXPECT_EQ(issued(observation, 12, 5), (std::vector<std::string>{"breadth 1: up", "breadth 2: up", "breadth 3: up",
                                                                  "breadth 4: up", "breadth 1: kernel"}));
  EXPECT_TRUE(observation.verdict.as_expected) << observation.verdict.fact;
}

}  // namespace
}  // namespace penstock::lab
