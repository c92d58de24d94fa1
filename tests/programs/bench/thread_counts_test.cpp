// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/thread_counts.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// Points of one, two and four producers, with two sizes of tiles each.
struct SixPoints : testing::Test {
  std::vector<measure::Axis> axes{{"tile", {"4096", "1048576"}}, {"producers", {"1", "2", "4"}}};
  std::vector<measure::PointResult> results;

  void SetUp() override {
    constexpr std::array<double, 6> rates{100, 180, 240, 10, 20, 25};
    constexpr std::array<unsigned, 3> producers{1, 2, 4};
    auto const points = measure::points_of(axes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      results.push_back({.point = points[i], .tiles_per_second = {rates[i]}, .last = measure::Trial{}});
      results.back().last->options.producers = producers[i % 3];
    }
  }
};

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

TEST_F(SixPoints, AnswerHowManyThreadsAreEnoughForEachTile) {
  results[1].tiles_per_second = {232};
  results[1].verdict = Verdict{};
  results[1].verdict->bound = Bound::upload;
  auto const all = enough_threads(axes, results);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 2U);
  EXPECT_NEAR(all[0].of_most, 232.0 / 240, 1e-9);
  EXPECT_EQ(
      all[0].sentence,
      "How many producers? tile 4 KiB: 2; more do not do more. It does 97 % of the most, which 4 did. With 2 it is "
      "bound by: upload.");
  EXPECT_TRUE(all[1].more_may_help);
  EXPECT_EQ(all[1].sentence, "How many producers? tile 1 MiB: 4, the most that were tried; more may do more.");
}

TEST_F(SixPoints, AnswerWithTheFewestWhereMoreDoNotDoMore) {
  for (std::size_t const i : {1U, 2U}) results[i].tiles_per_second = {90};
  EXPECT_EQ(enough_threads(axes, results)[0].sentence,
            "How many producers? tile 4 KiB: 1, the fewest that were tried; more do not do more.");
}

TEST_F(SixPoints, DoNotAnswerByPointsThatAreNotJudged) {
  results[2].too_slow = results[4].too_slow = results[5].too_slow = "This machine is too slow for its clock.";
  auto const all = enough_threads(axes, results);
  ASSERT_EQ(all.size(), 1U) << "of one point that is left there is no choice";
  EXPECT_EQ(all[0].count, 2U);
}

TEST_F(SixPoints, AreNotComparedWhereTwoKindsOfThreadsVary) {
  axes = {{"lanes", {"1", "2"}}, {"producers", {"1", "2", "4"}}};
  EXPECT_EQ(thread_axis(axes), "");
  EXPECT_TRUE(speed_ups_of(axes, results).empty());
}

TEST_F(SixPoints, AreNotComparedWhereNoNumberOfThreadsVaries) {
  axes = {{"tile", {"4096", "1048576"}}, {"producers", {"1"}}};
  EXPECT_TRUE(speed_ups_of(axes, results).empty());
}

}  // namespace
}  // namespace penstock::cli
