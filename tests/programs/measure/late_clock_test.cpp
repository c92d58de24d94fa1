// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "support/late_device.hpp"
#include <gtest/gtest.h>

#include "engine/core/too_slow.hpp"
#include "programs/measure/sweep.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {
namespace {

/// A model on a machine that is too slow for its clock, and short runs.
struct ASweepOnALateClock : testing::Test {
  support::LateDevice device;
  SweepOptions options{.trial = {.warm_up = std::chrono::milliseconds(1), .window = std::chrono::milliseconds(5)},
                       .least_repeats = 2,
                       .most_repeats = 2,
                       .load = 0.5,
                       .ceilings = true,
                       .judged = true};

  PointResult point() { return sweep(device, points_of(std::vector{parse_axis("tile", "64KiB")}), options, {}).at(0); }
};

TEST_F(ASweepOnALateClock, JudgesNothing) {
  PointResult const result = point();
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.tiles_per_second.size(), 2u) << "what was measured is kept";
  EXPECT_EQ(result.too_slow, support::LateDevice::sentence());
  EXPECT_FALSE(result.judged_by_its_clock());
  EXPECT_FALSE(result.ceilings || result.verdict || result.latency || result.traced);
  EXPECT_EQ(result.remarks, std::vector{support::LateDevice::sentence()});
}

TEST_F(ASweepOnALateClock, JudgesOnceTheClockIsInTime) {
  device.late = false;
  PointResult const result = point();
  EXPECT_TRUE(result.judged_by_its_clock());
  EXPECT_TRUE(result.ceilings && result.verdict && result.latency);
}

/// A model on a machine that is late only in the warm-up. Seen to fail if it goes on counting when the window opens.
struct ATrialOnALateClock : testing::Test {
  support::LateDevice device;
  Setting const setting{.pipeline = {.producers = 1, .lanes = 1}, .tile = 4096};

  void SetUp() override {
    device.modelled = true;
    device.late_only_at = {1};
  }
};

TEST_F(ATrialOnALateClock, HasALatencyAfterItsWarmUp) {
  EXPECT_TRUE(run_open_loop(device, setting, 1000, {.warm_up = {}, .window = {}}, {}));
}

TEST_F(ATrialOnALateClock, IsNotCalledLateForItsWarmUp) {
  auto const trial = run_trial(device, setting, {.warm_up = {}, .window = {}}, {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(too_slow_in(trial->report.remarks), "");
}

/// A model on a machine that is busy for a moment, after a run that was in time.
struct ASweepOnAClockThatIsLateOnce : ASweepOnALateClock {
  void SetUp() override {
    options.least_repeats = options.most_repeats = options.rounds_of_ceilings = 1;
    options.load = 0;
    options.ceilings = options.judged = false;
    device.late_only_at = {2};
  }
};

TEST_F(ASweepOnAClockThatIsLateOnce, MeasuresTheLatencyAgain) {
  options.load = 0.5;
  PointResult const result = point();
  EXPECT_TRUE(result.latency);
  EXPECT_EQ(result.remarks, std::vector<std::string>());
}

TEST_F(ASweepOnAClockThatIsLateOnce, MeasuresTheCeilingsAgain) {
  options.ceilings = true;
  PointResult const result = point();
  EXPECT_TRUE(result.ceilings);
  EXPECT_EQ(result.remarks, std::vector<std::string>());
}

/// Seen to fail with a verdict on such a point.
TEST_F(ASweepOnAClockThatIsLateOnce, JudgesNothingIfItIsLateForAllCeilings) {
  options.ceilings = options.judged = true;
  device.late_only_at = {2, 3, 4, 5};
  PointResult const result = point();
  EXPECT_FALSE(result.ceilings || result.verdict);
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_NE(result.remarks[0].find("is not judged. " + support::LateDevice::sentence()), std::string::npos);
}

TEST_F(ASweepOnAClockThatIsLateOnce, JudgesAnotherRun) {
  options.judged = true;
  PointResult const result = point();
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(result.verdict->evidence.at(0).find("Nothing is judged"), std::string::npos);
}

}  // namespace
}  // namespace penstock::measure
