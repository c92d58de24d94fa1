// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/thread_counts.hpp"

#include <utility>

#include "programs/bench/six_points.hpp"

namespace penstock::cli {
namespace {

TEST_F(SixPoints, AreComparedWithTheOneOfFewestThreadsAndTheSameTile) {
  auto const all = speed_ups_of(axes, results);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0]->times, 1);
  EXPECT_DOUBLE_EQ(all[2]->times, 2.4);
  EXPECT_DOUBLE_EQ(all[2]->of_ideal, 0.6);
  EXPECT_DOUBLE_EQ(all[4]->times, 2);
  EXPECT_DOUBLE_EQ(all[4]->of_ideal, 1);
}

TEST_F(SixPoints, CountTheThreadsThatRan) {
  for (std::size_t const i : {2U, 5U}) results[i].last->options.producers = 3;
  auto const all = speed_ups_of(axes, results);
  EXPECT_DOUBLE_EQ(all[2]->of_ideal, 0.8);
}

TEST_F(SixPoints, LeaveOutWhatIsNotJudged) {
  results[0].too_slow = "This machine is too slow for its clock.";
  results[1].tiles_per_second.clear();
  auto const all = speed_ups_of(axes, results);
  EXPECT_FALSE(all[0]);
  EXPECT_FALSE(all[1]);
  EXPECT_DOUBLE_EQ(all[2]->times, 1) << "it is the one with fewest threads that is left";
}

/// Seen to fail with the throughput of the fewest threads as the ideal.
TEST_F(SixPoints, HaveTheBestOfAThreadAsTheirIdeal) {
  results[0].tiles_per_second = {60};
  auto const all = speed_ups_of(axes, results);
  EXPECT_DOUBLE_EQ(all[1]->times, 3);
  EXPECT_DOUBLE_EQ(all[1]->of_ideal, 1) << "never above it";
  EXPECT_DOUBLE_EQ(all[0]->of_ideal, 60.0 / 90);
  EXPECT_DOUBLE_EQ(all[2]->of_ideal, 60.0 / 90);
  EXPECT_DOUBLE_EQ(all[3]->of_ideal, 1) << "tiles of another size have their own";
}

TEST_F(SixPoints, AreACurveForEachTile) {
  std::swap(results[3], results[5]);
  auto const curves = thread_curves(axes, results);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].place, "tile 4 KiB: ");
  ASSERT_EQ(curves[1].points.size(), 3U);
  EXPECT_EQ(curves[1].threads(*curves[1].points[0]), 1U);
  EXPECT_EQ(curves[1].threads(*curves[1].points[2]), 4U);
  EXPECT_EQ(curves[1].most_asked_for, 4U);
  EXPECT_FALSE(curves[0].interrupted || curves[1].interrupted);
}

TEST_F(SixPoints, AreACurveThatWasInterruptedIfOneWasNotMeasured) {
  results[1].last.reset();
  results[3].last.reset();
  results[3].error = "no memory";
  auto const curves = thread_curves(axes, results);
  EXPECT_TRUE(curves[0].interrupted) << "its earlier runs were in other processes";
  EXPECT_EQ(curves[0].points.size(), 2U);
  EXPECT_FALSE(curves[1].interrupted) << "it failed";
}

TEST_F(SixPoints, AreNotComparedWhereTwoKindsOfThreadsVary) {
  axes = {{"lanes", {"1", "2"}}, {"producers", {"1", "2", "4"}}};
  EXPECT_EQ(thread_axis(axes), "");
  EXPECT_TRUE(speed_ups_of(axes, results).empty());
  EXPECT_TRUE(thread_curves(axes, results).empty());
}

TEST_F(SixPoints, AreNotComparedWhereNoNumberOfThreadsVaries) {
  axes = {{"tile", {"4096", "1048576"}}, {"producers", {"1"}}};
  EXPECT_TRUE(speed_ups_of(axes, results).empty());
}

}  // namespace
}  // namespace penstock::cli
