// SPDX-License-Identifier: Apache-2.0
// The tiles of producers that rest, where two GPUs share the host's memory.
#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/clock.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

cpu::DeviceModel quick_model() {
  cpu::DeviceModel model;
  model.name = "a GPU of the tests";
  model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1};
  model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
  return model;
}

class Endless final : public Source {
 public:
  bool next(Tile&) override { return true; }
  std::size_t fill(Tile& tile) override { return tile.input().size(); }
};

/// Eight producers where one is enough.
struct APipelineOfTwoModels : testing::Test {
  APipelineOfTwoModels() {
    Clock::slow_down(20);
    for (int ordinal = 0; ordinal < 2; ++ordinal) {
      devices.push_back(std::make_unique<cpu::CpuDevice>(
          cpu::CpuOptions{.ordinal = ordinal, .compute_threads = 1, .model = quick_model()}));
    }
    options.tile = {.input_bytes = 64 << 10, .output_bytes = 64 << 10, .in_place = true};
    options.producers = 8;
  }
  std::vector<std::unique_ptr<cpu::CpuDevice>> devices;
  PipelineOptions options;
};

/// Seen to hang if the reserve is never closed, and to fail if it is not opened at the end.
TEST_F(APipelineOfTwoModels, LendsNoTilesOfProducersThatRest) {
  Pipeline pipeline(DeviceGroup({devices[0].get(), devices[1].get()}), options);
  Pool const& pool = pipeline.pool();
  EXPECT_GT(pool.reserve(), 0U);
  std::stop_source enough;
  std::jthread const watcher([&] {
    while (pool.reserve_is_open()) std::this_thread::yield();
    enough.request_stop();
  });
  Endless source;
  Report const report = pipeline.run(
      source, on_device([](DeviceTile const&, StreamRef) {}), [](Completion const&) {}, enough.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_TRUE(pool.reserve_is_open()) << "applications that push have no producers";
  EXPECT_EQ(pool.on_loan(), 0U);
}

TEST_F(APipelineOfTwoModels, HasNoReserveIfItsTilesAreAskedFor) {
  options.tuning.tiles = 256;
  Pipeline pipeline(DeviceGroup({devices[0].get(), devices[1].get()}), options);
  EXPECT_EQ(pipeline.pool().reserve(), 0U);
}

}  // namespace
}  // namespace penstock
