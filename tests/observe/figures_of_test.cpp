// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include "support/late_device.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gtest/gtest.h>

#include "engine/core/too_slow.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "observe/judge.hpp"
#include "observe/verdict/run_figures.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A report by hand, of a pipeline that never ran.
struct FiguresOfARun : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  PipelineOptions options{
      .tile = {.input_bytes = 4096}, .producers = 1, .lanes = 1, .consumers = 1, .tuning = {.tiles = 8, .slots = 4}};
};

TEST_F(FiguresOfARun, SharesAStreamIfLanesOfTheLegacyFlavourHaveNoOther) {
  options.lanes = 4;
  EXPECT_EQ(shared_stream(options, Flavour::legacy, 1), SharedStream::stage);
  EXPECT_EQ(shared_stream(options, Flavour::per_thread, 1), SharedStream::none);
  EXPECT_EQ(shared_stream(options, Flavour::legacy, 4), SharedStream::none) << "each device has one lane";
  options.tuning.shape = LaneShape::single;
  EXPECT_EQ(shared_stream(options, Flavour::legacy, 2), SharedStream::all);
  options.tuning.streams = StreamMode::own;
  EXPECT_EQ(shared_stream(options, Flavour::legacy, 1), SharedStream::none);
}

TEST_F(FiguresOfARun, OnALateClockIsNotJudged) {
  Report report;
  report.wall = std::chrono::milliseconds(1);
  report.tiles_done = 100;
  report.remarks = {"The producer is not bound.", std::string(too_slow_for_its_clock) + ": 7 % were late."};
  RunFigures const late = figures_of(report, options, Recording{}, device);
  EXPECT_EQ(judge(late).evidence.at(0), "Nothing is judged. This machine is too slow for its clock: 7 % were late.");
}

TEST_F(FiguresOfARun, OfAPipelineOnALateClockHaveNoVerdict) {
  support::LateDevice late;
  options.tile = {.input_bytes = 4096};
  options.watching.hooks = {verdicts()};
  Pipeline pipeline(late, options);
  auto const fill = [](TilePlace, std::span<std::byte> input) { return input.size(); };
  Report const report =
      pipeline.run(generate(64, fill), on_device([](DeviceTile const&, StreamRef) {}), [](Completion&) {});
  ASSERT_NE(report.verdict, nullptr);
  EXPECT_EQ(describe(*report.verdict),
            "bound: nothing measured\n  Nothing is judged. " + support::LateDevice::sentence());
}

TEST_F(FiguresOfARun, KnowsThatItsStagePromisedNothingThatSparesCopies) {
  Report report;
  report.lanes.resize(2);
  report.lanes[0].copies = 10;
  EXPECT_TRUE(figures_of(report, options, Recording{}, device).copies_in_vain);
  support::SaysItIsAGpu const gpu;
  EXPECT_FALSE(figures_of(report, options, Recording{}, gpu).copies_in_vain);
  report.lanes[1].may_map = true;
  EXPECT_FALSE(figures_of(report, options, Recording{}, device).copies_in_vain);
}

TEST_F(FiguresOfARun, CountsTheCpuTimeOfOthersForTheTimeItIsJudgedBy) {
  Report report;
  report.wall = std::chrono::seconds(2);
  report.cpu_of_others = std::chrono::seconds(3);
  Metered const half{.seconds = 1, .cpu_seconds = 1};
  EXPECT_DOUBLE_EQ(figures_of(report, options, half, Recording{}, device, 4).cpu_of_others, 1.5);
}

}  // namespace
}  // namespace penstock
