// SPDX-License-Identifier: Apache-2.0
// The tiles of producers that rest, where two GPUs share the host's memory.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "penstock/clock.hpp"
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

class ThousandTiles final : public Source {
 public:
  bool next(Tile& tile) override { return tile.sequence < 1000; }
  std::size_t fill(Tile& tile) override { return tile.input().size(); }
};

/// Eight producers where one is enough.
struct APipelineOfTwoModels : testing::Test {
  APipelineOfTwoModels() {
    cpu::slow_clock(20);
    for (int ordinal = 0; ordinal < 2; ++ordinal) {
      devices.push_back(std::make_unique<cpu::CpuDevice>(
          cpu::CpuOptions{.ordinal = ordinal, .compute_threads = 1, .time = cpu::modelled_time(quick_model())}));
    }
    options.tile = {.input_bytes = 64 << 10, .output_bytes = 64 << 10, .in_place = true};
    options.producers = 8;
  }
  std::vector<std::unique_ptr<cpu::CpuDevice>> devices;
  PipelineOptions options;
};

TEST_F(APipelineOfTwoModels, HasAReserveForItsProducersThatIsOpenBehindARun) {
  Pipeline pipeline(DeviceGroup({devices[0].get(), devices[1].get()}), options);
  Pool const& pool = pipeline.pool();
  EXPECT_GT(pool.reserve(), 0U);
  ThousandTiles source;
  Report const report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [](Completion const&) {});
  EXPECT_EQ(report.tiles_done, 1000U);
  EXPECT_EQ(report.pool_reserve, pool.reserve());
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
