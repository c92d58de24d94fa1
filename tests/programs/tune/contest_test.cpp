// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/contest.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "programs/tune/made_up_landscape.hpp"

namespace penstock::measure {
namespace {

TEST(SpreadPoints, HaveAPartOfEachAxisToThemselves) {
  std::mt19937 random{7};
  std::vector<SearchAxis> const axes{{.count = 12}, {.count = 24}, {.count = 3}, {.count = 1}};
  auto const points = spread_points(axes, 12, random);
  ASSERT_EQ(points.size(), 12u);
  std::set<std::size_t> first;
  std::set<std::size_t> second;
  std::vector<int> third(3);
  for (Levels const& levels : points) {
    ASSERT_EQ(levels.size(), 4u);
    first.insert(levels[0]);
    second.insert(levels[1] / 2);
    ++third.at(levels[2]);
    EXPECT_EQ(levels[3], 0u);
  }
  EXPECT_EQ(first.size(), 12u);
  EXPECT_EQ(second.size(), 12u);
  EXPECT_EQ(third, (std::vector<int>{4, 4, 4}));
}

TEST(SpreadPoints, AreOthersEachTime) {
  std::mt19937 random{7};
  std::vector<SearchAxis> const axes{{.count = 12}, {.count = 12}};
  EXPECT_NE(spread_points(axes, 12, random), spread_points(axes, 12, random));
}

/// One axis of ten points, each worth a tenth more than the one before; the last fails.
struct AContest : testing::Test {
  MadeUpLandscape landscape{{{.count = 10}}, [](Levels const& levels) {
                              return levels[0] == 9 ? 0 : 1 + 0.1 * static_cast<double>(levels[0]);
                            }};
  std::stop_source stop;
  Contest contest{landscape, stop.get_token()};

  void SetUp() override { contest.set_deadline(1000); }
  std::vector<Standing> hold(std::vector<Levels> const& entrants, Rounds rounds = {}) {
    return contest.hold(entrants, rounds, Effort::glance, "here");
  }
};

TEST_F(AContest, SaysHowFarEachIsAheadOfTheFirst) {
  auto const standings = hold({{2}, {0}, {8}}, {.least = 3, .most = 3});
  EXPECT_NEAR(standings[0].ahead, 0, 1e-9);
  EXPECT_NEAR(standings[1].ahead, std::log(1.0 / 1.2), 1e-9);
  EXPECT_NEAR(standings[2].ahead, std::log(1.8 / 1.2), 1e-9);
  EXPECT_FALSE(standings[1].in);
  EXPECT_TRUE(standings[2].in);
}

TEST_F(AContest, MeasuresNoMoreWhoeverIsBeaten) {
  hold({{0}, {4}, {8}}, {.most = 9});
  EXPECT_EQ(contest.find({4})->scores.size(), 1u);
  EXPECT_EQ(contest.find({8})->scores.size(), 1u) << "there was nobody left to beat";
}

TEST_F(AContest, MeasuresThoseThatAreAlikeAsOftenAsItMay) {
  landscape.noise = 0.1;
  landscape.truth = [](Levels const&) { return 1.0; };
  hold({{0}, {1}}, {.least = 4, .most = 4});
  EXPECT_EQ(contest.find({0})->scores.size(), 4u);
  EXPECT_EQ(contest.find({1})->scores.size(), 4u);
}

TEST_F(AContest, IsNotMisledByWhatDrifts) {
  landscape.drift = 0.5;
  landscape.glance_seconds = 0.3;
  auto const standings = hold({{5}, {4}, {6}, {3}, {7}}, {.least = 5, .most = 5});
  EXPECT_NEAR(standings[1].ahead, std::log(1.4 / 1.5), 0.05);
  EXPECT_NEAR(standings[4].ahead, std::log(1.7 / 1.5), 0.05);
}

TEST_F(AContest, IsNotMisledByOneHiccupInFive) {
  unsigned measured = 0;
  landscape.truth = [&](Levels const&) { return ++measured == 4 ? 0.3 : 1.0; };
  auto const standings = hold({{0}, {1}}, {.least = 5, .most = 5});
  EXPECT_NEAR(standings[1].ahead, 0, 1e-9);
}

TEST_F(AContest, PassesOverWhatFailsAndNeverTriesItAgain) {
  auto const standings = hold({{0}, {9}, {1}}, {.least = 2, .most = 2});
  EXPECT_FALSE(standings[1].in);
  EXPECT_TRUE(standings[2].in);
  EXPECT_TRUE(contest.find({9})->failed);
  std::size_t const before = landscape.measured;
  hold({{9}});
  EXPECT_EQ(landscape.measured, before);
}

TEST_F(AContest, HoldsTheOthersAgainstEachOtherWhereTheFirstFails) {
  auto const standings = hold({{9}, {3}, {6}});
  EXPECT_FALSE(standings[0].in);
  EXPECT_TRUE(standings[2].in);
  EXPECT_GT(standings[2].ahead, standings[1].ahead);
}

TEST_F(AContest, BeginsNothingThatWouldNotEndInTime) {
  hold({{0}, {1}});
  double const each = landscape.glance_seconds;
  contest.set_deadline(landscape.now + 2.5 * each);
  EXPECT_TRUE(contest.time_for(2, Effort::glance));
  EXPECT_FALSE(contest.time_for(3, Effort::glance));
  auto const standings = hold({{2}, {3}, {4}, {5}});
  EXPECT_TRUE(standings[1].in || standings[0].in);
  EXPECT_FALSE(standings[2].in);
  EXPECT_EQ(contest.find({4}), nullptr);
}

TEST_F(AContest, SeesHowMuchMeasurementsStray) {
  landscape.noise = 0.06;
  landscape.truth = [](Levels const&) { return 1.0; };
  hold({{0}, {1}, {2}, {3}}, {.least = 50, .most = 50});
  EXPECT_NEAR(contest.noise(Effort::glance), 0.06, 0.015);
}

TEST_F(AContest, LetsGoOfWhatIsNoBetterIfItIsToBeBetter) {
  landscape.truth = [](Levels const& levels) { return levels[0] == 0 ? 1.0 : 0.999; };
  hold({{0}, {1}, {2}}, {.most = 9, .to_beat_the_first = true});
  EXPECT_LE(contest.find({1})->scores.size(), 2u);
}

TEST_F(AContest, CountsNothingThatWasInterrupted) {
  landscape.truth = [&](Levels const&) {
    stop.request_stop();
    return 0.0;
  };
  hold({{0}, {1}});
  EXPECT_FALSE(contest.find({0})->failed) << "nobody knows what it would have been";
  EXPECT_EQ(landscape.measured, 1u);
}

/// One axis, along which the cost rises by one each level, and time enough.
struct AFinal : testing::Test {
  MadeUpLandscape landscape{{{.count = 10}}, [](Levels const&) { return 1.0; }};
  Contest contest{landscape, {}};

  void SetUp() override { contest.set_deadline(1000); }
};

TEST_F(AFinal, IsWonByTheCheapestOfThoseThatAreAsGood) {
  landscape.noise = 0.01;
  EXPECT_EQ(hold_final(contest, landscape, {{5}, {8}, {3}}).best, (Levels{3}));
  EXPECT_EQ(hold_final(contest, landscape, {{2}, {8}, {3}}).best, (Levels{2})) << "the defaults, that is";
}

TEST_F(AFinal, IsWonByTheBestWhateverItCosts) {
  landscape.truth = [](Levels const& levels) { return levels[0] == 8 ? 1.1 : 1.0; };
  Final const result = hold_final(contest, landscape, {{5}, {8}, {3}});
  EXPECT_EQ(result.best, (Levels{8}));
  EXPECT_TRUE(result.held);
  ASSERT_EQ(result.best_scores.size(), result.defaults_scores.size());
  EXPECT_DOUBLE_EQ(result.best_scores.front(), 1.1);
  EXPECT_DOUBLE_EQ(result.defaults_scores.front(), 1.0);
}

TEST_F(AFinal, CountsNothingThatWasMeasuredBefore) {
  contest.hold({{5}, {8}}, {.least = 3, .most = 3}, Effort::glance, "before");
  landscape.truth = [](Levels const&) { return 2.0; };
  for (double const score : hold_final(contest, landscape, {{5}, {8}}).defaults_scores) EXPECT_EQ(score, 2.0);
}

TEST_F(AFinal, WithoutTimeIsWonByTheLast) {
  contest.hold({{5}, {8}}, {.most = 1}, Effort::glance, "before");
  contest.set_deadline(0);
  Final const result = hold_final(contest, landscape, {{5}, {8}});
  EXPECT_EQ(result.best, (Levels{8}));
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.best_scores.size(), 1u);
}

/// Seen to fail where the last wins whatever is known of it.
TEST_F(AFinal, WithoutTimeIsNotWonByWhatIsBehindTheDefaultsByAllThatIsKnown) {
  landscape.truth = [](Levels const& levels) { return levels[0] == 8 ? 0.9 : 1.0; };
  contest.hold({{5}, {8}}, {.most = 1}, Effort::glance, "before");
  contest.set_deadline(0);
  Final const result = hold_final(contest, landscape, {{5}, {8}});
  EXPECT_EQ(result.best, (Levels{5}));
  EXPECT_EQ(result.best_scores, std::vector<double>{1.0});
}

}  // namespace
}  // namespace penstock::measure
