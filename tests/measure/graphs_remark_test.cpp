// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/graphs_remark.hpp"

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

TEST_F(GraphsRemark, SaysNothingOnceThereIsOne) {
  report.lanes[1].graphs = 1;
  EXPECT_EQ(remark(), "");
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
