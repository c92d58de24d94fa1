// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "programs/measure/ceilings.hpp"

namespace penstock::measure {
namespace {

/// A CPU device, and runs as short as they can be.
struct ASweep : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  SweepOptions options{.trial = {.warm_up = std::chrono::milliseconds(1), .window = std::chrono::milliseconds(5)},
                       .least_repeats = 2,
                       .most_repeats = 3,
                       .load = 0,
                       .ceilings = false};
  std::stop_source stop;
  Setting begin;

  std::vector<PointResult> swept(std::vector<Axis> const& axes) {
    return sweep(device, points_of(axes, begin), options, stop.get_token());
  }
};

TEST_F(ASweep, MeasuresEachPointAsOftenAsAsked) {
  auto const results =
      swept({parse_axis("tile", "4KiB,64KiB"), parse_axis("producers", "1"), parse_axis("shape", "split,single")});
  ASSERT_EQ(results.size(), 4u);
  for (PointResult const& result : results) {
    EXPECT_EQ(result.error, "");
    EXPECT_GE(result.tiles_per_second.size(), 2u);
    EXPECT_LE(result.tiles_per_second.size(), 3u);
    EXPECT_EQ(result.tiles_per_second.size(), result.cpu_s_per_tile.size());
    for (double const rate : result.tiles_per_second) EXPECT_GT(rate, 0);
    ASSERT_TRUE(result.last);
    EXPECT_TRUE(result.last->report.ok());
    EXPECT_GE(result.last->pinned_bytes, result.last->options.tuning.tiles * result.point.setting.tile);
    EXPECT_EQ(result.last->device_bytes,
              result.last->options.lanes * result.last->options.tuning.slots * result.point.setting.tile);
  }
}

TEST_F(ASweep, DoesEveryKindOfWorkInEveryDirection) {
  for (PointResult const& result : swept({parse_axis("tile", "4KiB"), parse_axis("work", "copy,transform,busy:1us"),
                                          parse_axis("direction", "in,out,both"), parse_axis("sink", "graph,lanes")})) {
    EXPECT_EQ(result.error, "") << result.point.values[1] << result.point.values[2];
  }
  for (PointResult const& result : swept({parse_axis("work", "hash"), parse_axis("fill", "none,memcpy")})) {
    EXPECT_EQ(result.error, "");
  }
}

/// Seen to fail with stages that promise nothing.
TEST_F(ASweep, LaunchesGraphsOfWorkThatMayBeCaptured) {
  for (PointResult const& result : swept({parse_axis("tile", "4KiB"), parse_axis("work", "transform,busy:1us"),
                                          parse_axis("batch", "1"), parse_axis("direction", "in,out,both"),
                                          parse_axis("transport", "copies"), parse_axis("graphs", "always,never")})) {
    SCOPED_TRACE(result.point.values[1] + result.point.values[3] + result.point.values[5]);
    EXPECT_EQ(result.error, "");
    EXPECT_TRUE(result.remarks.empty());
    ASSERT_TRUE(result.last);
    for (LaneSummary const& lane : result.last->report.lanes) {
      EXPECT_EQ(lane.graphs, result.point.setting.pipeline.tuning.graphs == Graphs::always ? lane.tiles : 0);
      EXPECT_EQ(lane.not_captured, nullptr);
    }
  }
}

/// Points that share a measurement have the same number to the last bit.
TEST_F(ASweep, SharesCeilingsOnlyBetweenPointsWithAsManyLanes) {
  options.ceilings = true;
  auto const results = swept({parse_axis("lanes", "1,2"), parse_axis("shape", "split,single")});
  ASSERT_EQ(results.size(), 4u);
  for (PointResult const& result : results) ASSERT_TRUE(result.ceilings && result.ceilings->upload);
  EXPECT_EQ(*results[0].ceilings->upload, *results[1].ceilings->upload);
  EXPECT_EQ(*results[2].ceilings->upload, *results[3].ceilings->upload);
  EXPECT_NE(*results[0].ceilings->upload, *results[2].ceilings->upload);
}

/// Both are measured once for both points. Seen to fail if they are left with the first, and if the second has none.
TEST_F(ASweep, HasNoCeilingOfCallsWhereThereWereGraphs) {
  options.ceilings = true;
  options.rounds_of_ceilings = 1;
  auto const results = swept({parse_axis("tile", "4KiB"), parse_axis("work", "transform"), parse_axis("batch", "1"),
                              parse_axis("transport", "copies"), parse_axis("graphs", "always,never")});
  ASSERT_EQ(results.size(), 2u);
  for (PointResult const& result : results) {
    bool const calls = result.point.setting.pipeline.tuning.graphs == Graphs::never;
    ASSERT_TRUE(result.ceilings) << result.error;
    EXPECT_TRUE(result.ceilings->both);
    EXPECT_EQ(result.ceilings->kernel.has_value(), calls);
    EXPECT_EQ(result.ceilings->submission.has_value(), calls);
  }
}

TEST_F(ASweep, SaysOnceIfNothingWasLaunchedAsAGraph) {
  for (PointResult const& result : swept({parse_axis("work", "hash,copy"), parse_axis("graphs", "always")})) {
    EXPECT_EQ(result.error, "");
    ASSERT_EQ(result.remarks.size(), 1u);
    EXPECT_NE(result.remarks[0].find("--work " + result.point.values[0]), std::string::npos) << result.remarks[0];
  }
}

TEST_F(ASweep, SaysWhyAPointCouldNotBeMeasuredAndGoesOn) {
  begin.values.set("file", "/nowhere");
  auto const results = swept({parse_axis("tile", "4KiB"), parse_axis("fill", "file,none")});
  EXPECT_NE(results[0].error.find("/nowhere"), std::string::npos) << results[0].error;
  EXPECT_TRUE(results[0].tiles_per_second.empty());
  EXPECT_EQ(results[1].error, "");
  EXPECT_GE(results[1].tiles_per_second.size(), 2u);
}

TEST_F(ASweep, EndsEarlyIfItIsAskedTo) {
  stop.request_stop();
  for (PointResult const& result : swept({parse_axis("tile", "4KiB,64KiB")})) {
    EXPECT_TRUE(result.tiles_per_second.empty());
    EXPECT_EQ(result.error, "");
  }
}

TEST_F(ASweep, GoesOnWithWhatIsKnown) {
  std::vector<PointResult> begun;
  for (Point& point : points_of(std::vector{parse_axis("tile", "4KiB,64KiB")})) begun.push_back({.point = point});
  begun[0].tiles_per_second = begun[0].cpu_s_per_tile = {1, 2, 3};
  begun[0].apart = 3;
  begun[1].error = "It failed elsewhere.";
  options.least_repeats = options.most_repeats = 1;
  options.ceilings = true;
  auto const results = sweep({{"", device}}, std::move(begun), options, stop.get_token());
  ASSERT_EQ(results[0].tiles_per_second.size(), 4u) << results[0].error;
  EXPECT_EQ(results[0].tiles_per_second[2], 3);
  EXPECT_EQ(results[0].cpu_s_per_tile.size(), 4u);
  EXPECT_EQ(results[0].apart, 3u);
  EXPECT_TRUE(results[0].ceilings);
  EXPECT_TRUE(results[1].tiles_per_second.empty());
  EXPECT_EQ(results[1].error, "It failed elsewhere.");
}

TEST_F(ASweep, TellsHowFarItIs) {
  std::set<std::size_t> seen;
  std::size_t total = 0;
  sweep(device, points_of(std::vector{parse_axis("tile", "4KiB,64KiB")}), options, stop.get_token(),
        [&](SweepProgress const& now) {
          EXPECT_LE(now.done, now.total);
          seen.insert(now.done);
          EXPECT_LT(now.point, 2u);
          total = now.total;
        });
  EXPECT_EQ(seen.size(), total) << "one word for each run";
  EXPECT_GE(total, 4u);
}

TEST_F(ASweep, TakesLatencyAtAPartOfTheThroughput) {
  options.load = 0.2;
  auto const result = swept({parse_axis("tile", "4KiB")}).front();
  ASSERT_TRUE(result.latency) << result.error;
  EXPECT_DOUBLE_EQ(result.latency->load_tiles_per_second, 0.2 * spread_of(result.tiles_per_second).median);
  EXPECT_GT(result.latency->p50, 0);
  EXPECT_LE(result.latency->p50, result.latency->p99);
  EXPECT_LE(result.latency->p99, result.latency->p999);
}

TEST_F(ASweep, KeepsThePointOfWhichNothingMoreCanBeHad) {
  options.load = 0.2;
  options.least_repeats = options.most_repeats = 0;
  begin.values.set("file", "/nowhere");
  std::vector<PointResult> begun;
  for (Point& point : points_of(std::vector{parse_axis("tile", "4KiB"), parse_axis("fill", "file")}, begin))
    begun.push_back({.point = point, .tiles_per_second = {1, 2, 3}, .cpu_s_per_tile = {1, 2, 3}});
  auto const result = sweep({{"", device}}, begun, options, stop.get_token()).front();
  EXPECT_EQ(result.error, "") << "its throughput is known";
  EXPECT_FALSE(result.latency);
  EXPECT_FALSE(result.verdict);
  ASSERT_EQ(result.remarks.size(), 2U);
  EXPECT_NE(result.remarks[0].find("latency could not be measured: "), std::string::npos) << result.remarks[0];
  EXPECT_NE(result.remarks[1].find("could not be judged: "), std::string::npos) << result.remarks[1];
}

TEST_F(ASweep, JudgesARunByThePartThatWasRecordedWhole) {
  // Soon full, however busy the machine is, but not before the window opens behind as many tiles as there are.
  options.room = 400;
  options.trial.warm_up = {};
  options.trial.window = std::chrono::milliseconds(200);
  auto const result =
      swept({parse_axis("tile", "4KiB"), parse_axis("producers", "1"), parse_axis("tiles", "8")}).front();
  ASSERT_TRUE(result.verdict) << result.error;
  ASSERT_TRUE(result.traced);
  EXPECT_GT(result.traced->recording.missed, 0U);
  EXPECT_GT(result.traced->closed, result.traced->opened);
  std::int64_t last_heard = 0;
  for (Passage const& passage : result.traced->recording.passages) {
    if (happens_on_device(passage.step)) last_heard = std::max(last_heard, passage.end);
  }
  EXPECT_LE(result.traced->closed, last_heard) << "of the device";
}

TEST_F(ASweep, MeasuresEachPointOnTheDevicesThatItNames) {
  cpu::CpuDevice small({.compute_threads = 1, .memory_bytes = 8192});  // No slot of 64 KiB fits in.
  DevicesByName const both{{"large", device}, {"small", small}};
  std::vector<PointResult> begun;
  for (Point& point : points_of(std::vector{Axis{"device", {"small", "large"}}, parse_axis("tile", "64KiB")}))
    begun.push_back({.point = point});
  auto const results = sweep(both, begun, options, stop.get_token());
  EXPECT_NE(results[0].error.find("cannot allocate"), std::string::npos) << results[0].error;
  EXPECT_EQ(results[1].error, "");
  EXPECT_GE(results[1].tiles_per_second.size(), 2U);
  EXPECT_TRUE(results[1].verdict);
  begun[0].point.setting.device = "other";
  EXPECT_THROW(sweep(both, begun, options, stop.get_token()), Error);
}

TEST_F(ASweep, MeasuresWhatThePartsComeToAlone) {
  options.ceilings = true;
  auto const results =
      swept({parse_axis("tile", "64KiB"), parse_axis("fill", "none,memcpy"), parse_axis("producers", "1")});
  for (PointResult const& result : results) {
    ASSERT_TRUE(result.ceilings) << result.error;
    EXPECT_GT(result.ceilings->upload.value_or(0), 0);
    EXPECT_GT(result.ceilings->download.value_or(0), 0);
    EXPECT_GT(result.ceilings->both.value_or(0), 0);
    EXPECT_GT(result.ceilings->kernel.value_or(0), 0);
    EXPECT_GT(result.ceilings->link_up.value_or(0), 0);
    EXPECT_GT(result.ceilings->link_down.value_or(0), 0);
    EXPECT_EQ(result.ceilings->fill.has_value(), result.point.setting.values.text("fill") == "memcpy");
  }
}

TEST_F(ASweep, KeepsThePointWhosePartsCannotBeMeasuredAlone) {
  cpu::CpuDevice small({.compute_threads = 1, .memory_bytes = 8192});  // A slot or two fit in, and no more.
  options.ceilings = true;
  auto const result = sweep(small,
                            points_of(std::vector{parse_axis("tile", "4KiB"), parse_axis("slots", "1"),
                                                  parse_axis("lanes", "1"), parse_axis("work", "copy")}),
                            options, stop.get_token())
                          .front();
  EXPECT_EQ(result.error, "");
  EXPECT_GE(result.tiles_per_second.size(), 2u);
  EXPECT_FALSE(result.ceilings);
  ASSERT_EQ(result.remarks.size(), 1u) << "said once, however many rounds";
  EXPECT_NE(result.remarks[0].find("cannot allocate"), std::string::npos) << result.remarks[0];
}

/// A file of the system that says it is longer than it is, so that filling tiles from it fails.
struct AFileThatIsShorterThanItSays : ASweep {
  std::string const path = "/sys/devices/system/cpu/online";
  Setting setting{
      .pipeline = {.producers = 3}, .tile = 4096, .values = {{"work", "copy"}, {"fill", "file"}, {"file", path}}};

  void SetUp() override {
    std::error_code none;
    if (std::filesystem::file_size(path, none) < setting.tile || none) GTEST_SKIP() << path << " is not like that here";
  }
  template <class Body>
  void expect_that_it_became_shorter(Body body) {
    try {
      body();
      FAIL() << "that went well";
    } catch (Error const& error) {
      EXPECT_NE(std::string(error.what()).find("shorter"), std::string::npos) << error.what();
    }
  }
};

TEST_F(AFileThatIsShorterThanItSays, EndsTheThreadsThatMeasureItAlone) {
  expect_that_it_became_shorter([&] {
    static_cast<void>(
        measure_ceilings(device, setting, setting.pipeline.producers, std::chrono::milliseconds(5), stop.get_token()));
  });
}

TEST_F(AFileThatIsShorterThanItSays, EndsTheLoadThatItWasMeantFor) {
  expect_that_it_became_shorter(
      [&] { static_cast<void>(run_open_loop(device, setting, 1e4, options.trial, stop.get_token())); });
}

TEST(Ceilings, LetTheLowestThatAppliesCount) {
  Ceilings const ceilings{.upload = 10, .download = 20, .both = 8, .kernel = 15};
  EXPECT_EQ(lowest(ceilings, Direction::in), 10);
  EXPECT_EQ(lowest(ceilings, Direction::out), 15);
  EXPECT_EQ(lowest(ceilings, Direction::both), 8);
  EXPECT_EQ(lowest(Ceilings{}, Direction::both), std::nullopt);
}

}  // namespace
}  // namespace penstock::measure
