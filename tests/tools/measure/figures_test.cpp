// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/figures.hpp"

#include <array>

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

TEST(Ceilings, AreTheGreatestOfTheirTries) {
  std::array const tries{Ceilings{.upload = 10, .both = 8, .link_up = 3}, Ceilings{.upload = 12, .kernel = 5},
                         Ceilings{.upload = 11, .both = 7, .link_up = 4}};
  Ceilings const most = greatest(tries);
  EXPECT_EQ(most.upload, 12);
  EXPECT_EQ(most.both, 8);
  EXPECT_EQ(most.kernel, 5) << "that it could not be had in the other tries";
  EXPECT_EQ(most.link_up, 4);
  EXPECT_EQ(most.download, std::nullopt);
  EXPECT_EQ(greatest({}).upload, std::nullopt);
}

/// Seen to fail with one left in.
TEST(Ceilings, AreWithoutTheCallsOfARunThatLaunchedGraphs) {
  Ceilings const measured{.upload = 10, .fill = 3, .kernel = 5, .submission = 7, .link_up = 4};
  Report report;
  report.lanes.resize(1);
  report.lanes[0].tiles = 100;
  report.lanes[0].graphs = 49;
  EXPECT_EQ(ceilings_of(report, measured).kernel, 5);
  EXPECT_EQ(ceilings_of(report, measured).submission, 7);
  report.lanes[0].graphs = 50;
  Ceilings const left = ceilings_of(report, measured);
  EXPECT_EQ(left.kernel, std::nullopt);
  EXPECT_EQ(left.submission, std::nullopt);
  EXPECT_EQ(left.upload, 10);
  EXPECT_EQ(left.fill, 3);
  EXPECT_EQ(left.link_up, 4);
}

}  // namespace
}  // namespace penstock::measure
