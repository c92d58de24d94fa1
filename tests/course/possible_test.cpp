// SPDX-License-Identifier: Apache-2.0
#include "course/possible.hpp"

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

/// Copy, kernel and copy of four parts, each in a stream of its own. Copies take 4 ms and kernels 3.
std::vector<PlannedWork> depth_first() {
  std::vector<PlannedWork> steps;
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t const first = steps.size();
    steps.push_back({Unit::up, 4ms, {}});
    steps.push_back({Unit::compute, 3ms, {first}});
    steps.push_back({Unit::down, 4ms, {first + 1}});
  }
  return steps;
}
/// The four parts, step by step.
std::vector<PlannedWork> breadth_first() {
  std::vector<PlannedWork> steps;
  for (std::size_t i = 0; i < 4; ++i) steps.push_back({Unit::up, 4ms, {}});
  for (std::size_t i = 0; i < 4; ++i) steps.push_back({Unit::compute, 3ms, {i}});
  for (std::size_t i = 0; i < 4; ++i) steps.push_back({Unit::down, 4ms, {4 + i}});
  return steps;
}

TEST(WhatIsPossible, WithTwoEnginesIsBoundByTheSlowestUnit) {
  EXPECT_EQ(serial(depth_first()), 44ms);
  EXPECT_EQ(possible(depth_first(), {}), 4 * 4ms + 3ms + 4ms);
  EXPECT_EQ(possible(breadth_first(), {}), 4 * 4ms + 3ms + 4ms);
}

TEST(WhatIsPossible, WithOneEngineInOrderOfIssueDependsOnThatOrder) {
  CopyEngines const one{.count = 1, .in_order_of_issue = true};
  EXPECT_EQ(possible(depth_first(), one), 44ms) << "each upload stands behind a download that waits for its kernel";
  EXPECT_EQ(possible(breadth_first(), one), 32ms);
}

TEST(WhatIsPossible, WithOneEngineThatTakesWhatIsReadyDoesNot) {
  CopyEngines const one{.count = 1, .in_order_of_issue = false};
  EXPECT_EQ(possible(depth_first(), one), 32ms);
  EXPECT_EQ(possible(breadth_first(), one), 32ms);
}

TEST(WhatIsPossible, TakesWhatBecameReadyFirst) {
  // The second copy is issued last and ready at once.
  std::vector<PlannedWork> const steps{
      {Unit::compute, 2ms, {}}, {Unit::up, 1ms, {0}}, {Unit::up, 5ms, {}}, {Unit::compute, 1ms, {1}}};
  auto const planned = plan(steps, {});
  EXPECT_EQ(planned[2].start, 0ms);
  EXPECT_EQ(planned[1].start, 5ms);
  EXPECT_EQ(planned[3].end, 7ms);
}

TEST(WhatIsPossible, HasTheHostDoItsStepsInTheirOrder) {
  std::vector<PlannedWork> const steps{{Unit::compute, 3ms, {}}, {Unit::host, 1ms, {0}}, {Unit::host, 1ms, {}}};
  EXPECT_EQ(plan(steps, {})[2].start, 4ms);
}

TEST(WhatIsPossible, IsNothingForNothing) {
  EXPECT_EQ(possible({}, {}), 0ms);
  EXPECT_EQ(serial({}), 0ms);
}

}  // namespace
}  // namespace penstock::lab
