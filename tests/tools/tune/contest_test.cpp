// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/contest.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tools/tune/made_up_landscape.hpp"

namespace penstock::measure {
namespace {

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

}  // namespace
}  // namespace penstock::measure
