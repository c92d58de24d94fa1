// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/recorded_run.hpp"

#include <string>

#include <gtest/gtest.h>

#include "penstock/core/error.hpp"
#include "penstock/cpu/cpu_device.hpp"

namespace penstock::measure {
namespace {

/// A short run of 64 KiB tiles on the CPU device.
struct AJudgedRun : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  Setting setting{.pipeline = {.producers = 1, .lanes = 1}, .tile = std::size_t{64} << 10, .work = Work::transform};
  std::stop_source source;
  JudgedRunOptions options{.cpus = 2};
  std::optional<JudgedRun> judged() { return judged_run(device, setting, options, source.get_token()); }
};

TEST_F(AJudgedRun, SaysWhatBoundedItAndWhatTheDeviceDid) {
  setting.pipeline.transport = Transport::copies;
  auto const run = judged();
  ASSERT_TRUE(run);
  EXPECT_NE(run->verdict.bound, Bound::nothing_measured) << describe(run->verdict);
  EXPECT_GT(run->verdict.bytes_per_second, 0);
  DeviceTimes const times = run->verdict.device_times.value();
  EXPECT_TRUE(times.upload && times.kernel && times.download);
  EXPECT_LE(times.speedup.value(), times.possible_speedup.value() + 1e-9);
}

/// Seen to fail if they count all the same.
TEST_F(AJudgedRun, OfGraphsIsNotJudgedByWhatIsLaunchedCallByCall) {
  setting.work = Work::busy;
  setting.busy = std::chrono::microseconds(200);
  setting.pipeline.batch = 1;
  setting.pipeline.transport = Transport::copies;
  options.ceilings = {.kernel = 1e9, .submission = 1e9};
  auto const tells_of_kernels_alone = [&](Graphs graphs) {
    setting.pipeline.graphs = graphs;
    auto const run = judged();
    return run && describe(run->verdict).find("ernels alone") != std::string::npos;
  };
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(tells_of_kernels_alone(Graphs::always));
  // On a busy machine another part may be the bound, so it is told of in one of many runs.
  bool told = false;
  for (int i = 0; i < 100 && !told; ++i) told = tells_of_kernels_alone(Graphs::never);
  EXPECT_TRUE(told);
}

TEST_F(AJudgedRun, ForWhichThereIsNoRoomIsAnError) {
  options.room = 1;
  EXPECT_THROW(judged(), Error);
}

TEST_F(AJudgedRun, ThatIsStoppedHasNoVerdict) {
  source.request_stop();
  EXPECT_FALSE(judged());
}

}  // namespace
}  // namespace penstock::measure
