// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/intervals.hpp"

#include <random>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Intervals, AreTheFewestStretchesThatHoldTheSameMoments) {
  Intervals const moments({{30, 40}, {0, 10}, {5, 12}, {32, 35}, {12, 20}});
  EXPECT_EQ(moments.stretches(), (std::vector<Stretch>{{0, 20}, {30, 40}}));
  EXPECT_EQ(moments.length(), 30);
}

TEST(Intervals, HoldNothingOfWhatEndsWhereItBegins) {
  EXPECT_TRUE(Intervals({{5, 5}, {9, 7}}).empty());
  EXPECT_EQ(Intervals().length(), 0);
  EXPECT_EQ(Intervals({{0, 10}, {4, 4}, {20, 20}}), Intervals({{0, 10}}));
}

TEST(Intervals, MayLieBeforeTheBeginning) {
  EXPECT_EQ(Intervals({{-5, 3}, {-20, -10}}).length(), 18);
}

TEST(Intervals, ThatTouchShareNoMoment) {
  EXPECT_TRUE(common(Intervals({{0, 10}}), Intervals({{10, 20}})).empty());
  EXPECT_EQ(united(Intervals({{0, 10}}), Intervals({{10, 20}})), Intervals({{0, 20}}));
}

TEST(Intervals, ShareWhatBothHoldPieceByPiece) {
  Intervals const one({{0, 10}, {20, 30}, {40, 50}});
  Intervals const other({{5, 25}, {28, 42}, {44, 46}, {60, 70}});
  EXPECT_EQ(common(one, other), Intervals({{5, 10}, {20, 25}, {28, 30}, {40, 42}, {44, 46}}));
  EXPECT_EQ(common(one, Intervals()), Intervals());
}

/// As sets of single moments, which is what they stand for.
TEST(Intervals, AgreeWithSetsOfMomentsWhateverTheyAreMadeOf) {
  constexpr std::int64_t end = 60;
  std::mt19937 chance(7);
  std::uniform_int_distribution<std::int64_t> moment(0, end);
  for (int round = 0; round < 500; ++round) {
    std::vector<Stretch> parts[2];
    std::vector<bool> held[2] = {std::vector<bool>(end), std::vector<bool>(end)};
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < round % 9; ++k) {
        Stretch const part{moment(chance), moment(chance)};
        parts[side].push_back(part);
        for (auto at = part.begin; at < part.end; ++at) held[side][static_cast<std::size_t>(at)] = true;
      }
    }
    Intervals const one(parts[0]), other(parts[1]);
    std::int64_t either = 0, both = 0;
    for (std::size_t at = 0; at < end; ++at) {
      either += held[0][at] || held[1][at] ? 1 : 0;
      both += held[0][at] && held[1][at] ? 1 : 0;
    }
    ASSERT_EQ(united(one, other).length(), either);
    ASSERT_EQ(common(one, other).length(), both);
    ASSERT_EQ(common(one, other), common(other, one));
  }
}

}  // namespace
}  // namespace penstock
