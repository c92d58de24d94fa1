// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/figures.hpp"

#include <array>
#include <memory>

#include <gmock/gmock.h>
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

using testing::HasSubstr;

/// A report of two lanes, which were asked for graphs.
struct GraphsRemark : testing::Test {
  Setting setting{.pipeline = {.tuning = {.graphs = Graphs::always}}};
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
    setting.pipeline.tuning.graphs = graphs;
    EXPECT_EQ(remark(), "");
  }
}

TEST_F(GraphsRemark, SaysNothingOfARunWithoutTiles) {
  report.lanes = {{}, {}};
  EXPECT_EQ(remark(), "");
}

TEST_F(GraphsRemark, NamesTheWorkThatHasNone) {
  setting.values.set("work", "hash");
  EXPECT_THAT(remark(), HasSubstr("--work hash"));
  setting.values.set("work", "copy");
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
    setting.pipeline.tuning.graphs = graphs;
    EXPECT_THAT(remark(), HasSubstr("It waits."));
  }
}

/// A window of 100 ns from 50 on, in which 10 tiles took a second of CPU time.
struct ARecordedWindow : testing::Test {
  Traced traced{.recording = {}, .opened = 50, .closed = 150};
  Metered metered{.tiles = 10, .seconds = 100e-9, .cpu_seconds = 1};

  void record(std::int64_t begin, std::int64_t end, Step step = Step::fill) {
    traced.recording.passages.push_back({.tile = 0, .row = 0, .step = step, .begin = begin, .end = end});
  }
};

TEST_F(ARecordedWindow, StaysWholeIfNothingWasMissed) {
  record(0, 75);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 150);
  EXPECT_EQ(metered.tiles, 10);
}

TEST_F(ARecordedWindow, EndsWhereTheRecorderWasFull) {
  traced.recording.missed = 1;
  record(70, 75);
  record(40, 60);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 75);
  EXPECT_DOUBLE_EQ(metered.tiles, 2.5);
  EXPECT_DOUBLE_EQ(metered.seconds, 25e-9);
  EXPECT_DOUBLE_EQ(metered.cpu_seconds, 0.25);
}

TEST_F(ARecordedWindow, EndsWithTheLastThatWasHeardOfTheDevice) {
  traced.recording.missed = 1;
  record(70, 75);
  record(50, 60, Step::stage);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 60);
  EXPECT_DOUBLE_EQ(metered.tiles, 1);
}

TEST_F(ARecordedWindow, IsNoneIfNothingInItWasHeardOfTheDevice) {
  traced.recording.missed = 1;
  record(70, 75);
  record(20, 40, Step::stage);
  EXPECT_FALSE(cut_to_recorded(traced, metered));
}

TEST_F(ARecordedWindow, StaysWholeIfTheRecorderWasFullOnlyAfterIt) {
  traced.recording.missed = 1;
  record(140, 160);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 150);
  EXPECT_EQ(metered.tiles, 10);
}

TEST_F(ARecordedWindow, IsNoneIfTheRecorderWasFullBeforeIt) {
  traced.recording.missed = 1;
  record(0, 30);
  EXPECT_FALSE(cut_to_recorded(traced, metered));
}

TEST(Ceilings, OfTilesThatAreHalfFullAreTwiceAsManyTiles) {
  Ceilings const half =
      of_part_filled({.upload = 10, .fill = 12, .fill_twice = 13, .kernel = 15, .submission = 20, .link_up = 30}, 0.5);
  EXPECT_EQ(half.upload, 20);
  EXPECT_EQ(half.kernel, 30);
  EXPECT_FALSE(half.download);
  EXPECT_EQ(half.fill, 12) << "which is of tiles as the source fills them";
  EXPECT_EQ(half.fill_twice, 13);
  EXPECT_EQ(half.submission, 20) << "which does not depend on bytes";
  EXPECT_EQ(half.link_up, 30) << "which is in bytes";
}

/// Points of a job with a digest each.
struct Digests : testing::Test {
  Job job{.options = {number_option("bins", "So many", 1, 1, 9)}};
  std::vector<PointResult> results;

  void add(std::optional<std::uint64_t> digest, std::string const& bins = "1") {
    results.push_back({.point = {.setting = {.job = &job, .values = {{"bins", bins}}}}, .digest = digest});
  }
  std::vector<bool> refused() {
    expect_same_results(results);
    std::vector<bool> all;
    for (PointResult const& result : results) all.push_back(!result.error.empty());
    return all;
  }
};

TEST_F(Digests, MustBeThoseOfMostPoints) {
  add(0x2a);
  add(1);
  add(1);
  EXPECT_EQ(refused(), (std::vector{true, false, false}));
  EXPECT_THAT(results[0].error, HasSubstr("0x000000000000002a instead of 0x0000000000000001"));
}

TEST_F(Digests, MustBeThatOfTheFirstIfNoneIsUsual) {
  add(9);
  add(1);
  EXPECT_EQ(refused(), (std::vector{false, true}));
}

/// Seen to fail if all points are compared with each other.
TEST_F(Digests, DifferWithTheOptionsOfTheJob) {
  add(1, "1");
  add(2, "2");
  add(std::nullopt, "2");
  EXPECT_EQ(refused(), (std::vector{false, false, false}));
}

}  // namespace
}  // namespace penstock::measure
