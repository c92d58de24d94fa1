// SPDX-License-Identifier: Apache-2.0
// A stage that writes behind its tile, in a pipeline that looks for that.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Tiles of eight floats, of which the fifth is given one too many.
struct APipelineWithRedZones : testing::Test {
  static PipelineOptions usual() {
    return {.tile = tile_of<float>(8), .lanes = 2, .ordered = true, .watching = {.red_zones = true}};
  }
  static Stages off_by_one(Promises promises = {}) {
    return on_device(
        [](DeviceTileOf<float> tile, StreamRef stream) {
          stream.launch(1, [tile](KernelBlock block) {
            float* const output = tile.output.in(block).data();
            std::size_t const count = tile.output.size() + (tile.sequence == 4 ? 1 : 0);
            for (std::size_t i = 0; i < count; ++i) output[i] = 1;
          });
          return tile.output.size_bytes();
        },
        promises);
  }
  Report run(PipelineOptions const& options, Stages const& stages) {
    auto const fill = [](TilePlace, std::span<float> input) { return input.size(); };
    Pipeline pipeline(device, options);
    return pipeline.run(generate(20, fill), stages, [](Completion&) {});
  }
  cpu::CpuDevice device{{.compute_threads = 2}};
};

/// Seen to fail if zones are looked at only for tiles that are copied anyway.
TEST_F(APipelineWithRedZones, NamesTheTileForWhichAStageWroteOneElementTooMany) {
  for (Promises const promises : {Promises{}, Promises{.reads_once = true}, Promises{.elementwise = true}}) {
    for (unsigned const batch : {1U, 4U}) {
      PipelineOptions options = usual();
      options.tuning.batch = batch;
      options.tuning.slots = 2 * batch;
      Report const report = run(options, off_by_one(promises));
      EXPECT_EQ(report.tiles_done, 19U);
      ASSERT_TRUE(report.first_failure);
      EXPECT_EQ(report.first_failure->sequence, 4U);
      EXPECT_EQ(report.first_failure->failure.stage, "stage");
      EXPECT_THAT(report.first_failure->failure.reason, testing::HasSubstr("4 bytes behind the output"));
    }
  }
}

TEST_F(APipelineWithRedZones, LetsAStageBeThatStaysWithinItsTile) {
  auto const stage = on_device([](DeviceTileOf<float> tile, StreamRef stream) {
    stream.launch(1, [tile](KernelBlock block) {
      for (float& value : tile.output.in(block)) value = 1;
    });
  });
  EXPECT_TRUE(run(usual(), stage).ok());
}

TEST_F(APipelineWithRedZones, RefusesToWorkOnTheTilesThemselves) {
  PipelineOptions options = usual();
  options.tuning.transport = Transport::mapped;
  EXPECT_THROW(static_cast<void>(run(options, off_by_one({.reads_once = true}))), Error);
}

}  // namespace
}  // namespace penstock
