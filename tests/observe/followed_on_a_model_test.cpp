// SPDX-License-Identifier: Apache-2.0
// Verdicts on runs of a modelled GPU, and what became of their advice.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "observe/judge.hpp"
#include "observe/verdict/run_figures.hpp"
#include "penstock/clock.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// Lanes with a stream each, which in the legacy flavour is one for all of them. A tile takes 200 us to compute, in one
/// of ten blocks that run at once, and 6.6 us each way: so long that lanes of a busy host, which sleep meanwhile, give
/// the next tiles in time.
struct LanesOnALegacyModel : testing::Test {
  static constexpr std::size_t bytes = 64 << 10;
  static constexpr auto kernel = 200us;

  LanesOnALegacyModel() {
    cpu::slow_clock(20);
    cpu::DeviceModel model;
    model.name = "a GPU of the tests";
    model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1};
    model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
    device = std::make_unique<cpu::CpuDevice>(
        cpu::CpuOptions{.compute_threads = 2, .flavour = Flavour::legacy, .time = cpu::modelled_time(model)});
    options.tile = {.input_bytes = bytes, .output_bytes = bytes, .in_place = true};
    options.producers = 2;
    options.lanes = 4;
    options.consumers = 1;
    options.tuning.slots = 4;
    options.tuning.batch = 1;
    options.tuning.tiles = 24;
    options.tuning.signal = SignalKind::callback;
    options.tuning.spin = 0us;
    options.tuning.shape = LaneShape::single;
    options.tuning.transport = Transport::copies;
    options.tuning.graphs = Graphs::never;
    alone.upload = alone.download = alone.both = 10e9 / bytes;
    alone.kernel = 10 / std::chrono::duration<double>(kernel).count();
  }
  RunFigures run() {
    Recorder recorder({.capacity = 1 << 15});
    PipelineOptions recorded = options;
    recorded.watching.recorder = &recorder;
    Pipeline pipeline(*device, recorded);
    auto const fill = [](TilePlace, std::span<std::byte> input) { return input.size(); };
    auto const stage = on_device([](DeviceTile const&, StreamRef stream) {
      stream.launch(1, [](std::uint32_t) {}, {.time = kernel, .blocks = 1});
    });
    Report const report = pipeline.run(generate(200, fill), stage, [](Completion&) {});
    EXPECT_TRUE(report.ok()) << describe(report);
    return figures_of(report, pipeline.options(), recorder.take(), *device);
  }
  static double rate(RunFigures const& figures) { return static_cast<double>(figures.tiles) / figures.wall; }

  std::unique_ptr<cpu::CpuDevice> device;
  PipelineOptions options;
  Ceilings alone;
};

/// Seen to fail with times of steps that have those of other lanes in them.
TEST_F(LanesOnALegacyModel, AreToldThatNothingOverlapsAndOfNoMoreLanes) {
  RunFigures figures = run();
  EXPECT_EQ(figures.shares, SharedStream::all);
  ASSERT_TRUE(figures.overlap && figures.device_times);
  EXPECT_EQ(figures.overlap->overlap, 0);
  EXPECT_FALSE(figures.device_times->upload || figures.device_times->speedup);
  // Also where this machine was too slow: what follows is structure.
  figures.late.clear();
  for (Ceilings const& known : {Ceilings{}, alone}) {
    for (Advice const& advice : judge(figures, known).advice) {
      EXPECT_EQ(advice.change.find("--lanes"), std::string::npos) << advice.change;
      EXPECT_EQ(advice.change.find("--slots"), std::string::npos) << advice.change;
    }
  }
}

TEST_F(LanesOnALegacyModel, GainWhatIsPromisedByStreamsOfTheirOwn) {
  RunFigures const before = run();
  options.tuning.streams = StreamMode::own;
  RunFigures const after = run();
  if (!before.late.empty() || !after.late.empty()) GTEST_SKIP() << before.late << after.late;
  Verdict const verdict = judge(before, alone);
  EXPECT_EQ(bound_name(verdict.bound), bound_name(Bound::serialising_stream)) << describe(verdict);
  ASSERT_FALSE(verdict.advice.empty()) << describe(verdict);
  EXPECT_EQ(verdict.advice.front().change, "--streams own");
  double const promised = verdict.advice.front().gain - 1, gained = rate(after) / rate(before) - 1;
  EXPECT_GE(gained, promised * 2 / 3) << describe(verdict);
  EXPECT_LE(gained, promised * 4 / 3) << describe(verdict);
}

}  // namespace
}  // namespace penstock
