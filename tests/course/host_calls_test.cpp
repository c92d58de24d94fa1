// SPDX-License-Identifier: Apache-2.0
#include "course/held_laboratory.hpp"

namespace penstock::lab {
namespace {

TEST_P(HeldLaboratory, MeasuresWaitsOneAfterTheOther) {
  held().end_all();
  begin(event_waits());
  auto const observation = seen();
  EXPECT_EQ(rows_of(observation),
            (std::vector<std::string>{"stream", "polling", "stream", "waiting", "stream", "asleep"}));
  EXPECT_EQ(observation.figures.size(), 6u);
  for (auto const& figure : observation.figures) EXPECT_GT(figure.value, 0) << figure.what;
}

}  // namespace
}  // namespace penstock::lab
