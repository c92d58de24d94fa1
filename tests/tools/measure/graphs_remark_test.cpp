// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/graphs_remark.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

using testing::HasSubstr;

/// Of two lanes, which were asked for graphs.
struct GraphsRemark : testing::Test {
  Setting setting{.graphs = Graphs::always};
  Report report;

  GraphsRemark() {
    report.lanes.resize(2);
    for (LaneSummary& lane : report.lanes) lane.tiles = 10;
  }
  std::string remark() const { return graphs_remark(setting, report); }
};

TEST_F(GraphsRemark, KnowsWhetherTheyAreMost) {
  EXPECT_FALSE(mostly_graphs(report));
  report.lanes[0].graphs = 9;
  EXPECT_FALSE(mostly_graphs(report));
  report.lanes[1].graphs = 1;
  EXPECT_TRUE(mostly_graphs(report));
  report.lanes.clear();
  EXPECT_FALSE(mostly_graphs(report)) << "there are no tiles";
}

TEST_F(GraphsRemark, SaysNothingIfTheyAreHalfOfTheTiles) {
  report.lanes[1].graphs = 10;
  EXPECT_EQ(remark(), "");
  report.lanes[0].graphs = 10;
  EXPECT_EQ(remark(), "");
}

/// Seen to fail if one is enough: the first tile of a run mostly comes alone, and all others in batches.
TEST_F(GraphsRemark, SaysOfHowManyTilesTheyAreFew) {
  report.lanes[1].graphs = 1;
  EXPECT_THAT(remark(), HasSubstr("Only 1 of 20 tiles was launched as a graph: what was copied went in batches"));
  report.lanes[0].graphs = 8;
  EXPECT_THAT(remark(), HasSubstr("Only 9 of 20 tiles were launched as graphs"));
}

TEST_F(GraphsRemark, SaysNothingUnlessTheyAreAskedFor) {
  for (Graphs const graphs : {Graphs::automatic, Graphs::never}) {
    setting.graphs = graphs;
    EXPECT_EQ(remark(), "");
  }
}

TEST_F(GraphsRemark, SaysNothingOfARunWithoutTiles) {
  report.lanes = {{}, {}};
  EXPECT_EQ(remark(), "");
}

TEST_F(GraphsRemark, NamesTheWorkThatHasNone) {
  setting.work = Work::hash;
  EXPECT_THAT(remark(), HasSubstr("--work hash"));
  setting.work = Work::copy;
  EXPECT_THAT(remark(), HasSubstr("--work copy"));
}

TEST_F(GraphsRemark, SaysWhatWouldMakeThem) {
  EXPECT_THAT(remark(), HasSubstr("--batch 1"));
  report.lanes[0].mapped = 10;
  EXPECT_THAT(remark(), HasSubstr("--batch 1"));
  report.lanes[1].mapped = 10;
  EXPECT_THAT(remark(), HasSubstr("--transport copies"));
}

/// Seen to fail if all have to be mapped.
TEST_F(GraphsRemark, SaysWhatWouldMakeThemOfMostOfTheOthers) {
  report.lanes[0].graphs = 4;
  report.lanes[1].mapped = 9;
  EXPECT_THAT(remark(), HasSubstr("--transport copies"));
  report.lanes[1].mapped = 8;
  EXPECT_THAT(remark(), HasSubstr("--batch 1"));
}

TEST_F(GraphsRemark, SaysWhyACaptureFailedWhoeverAskedForIt) {
  report.lanes[0].graphs = 1;
  report.lanes[1].not_captured =
      std::make_shared<Failure const>(Failure{"stage", "It waits.", ErrorKind::bad_argument});
  for (Graphs const graphs : all_graphs) {
    setting.graphs = graphs;
    EXPECT_THAT(remark(), HasSubstr("It waits."));
  }
}

}  // namespace
}  // namespace penstock::measure
