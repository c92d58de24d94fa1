// SPDX-License-Identifier: Apache-2.0
// What a pipeline makes of a device whose kernel does not end.
#include <set>

#include "support/gate.hpp"
#include <gmock/gmock.h>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/flow/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Two CPU devices, the second of which is stuck in the kernel of the first tile that it gets. The pipeline ends before
/// that kernel does.
struct AStuckDevice : testing::Test {
  support::Gate gate;
  cpu::CpuDevice healthy{{.ordinal = 0, .compute_threads = 1}};
  cpu::CpuDevice stuck{{.ordinal = 1, .compute_threads = 1}};
  std::optional<Pipeline> pipeline;
  std::atomic<int> left{300};
  std::set<std::uint64_t> seen;
  std::set<std::uint32_t> stranded;

  void make_pipeline(std::vector<Device*> devices, std::size_t tiles) {
    auto const lanes = static_cast<unsigned>(devices.size());
    pipeline.emplace(std::move(devices),
                     PipelineOptions{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
                                     .tiles = tiles,
                                     .producers = 1,
                                     .lanes = lanes,
                                     .consumers = 1,
                                     .slots = 2,
                                     .patience = std::chrono::seconds(1)});
  }
  Report run() {
    return pipeline->run(
        [this](Tile& tile) -> std::optional<std::size_t> {
          EXPECT_FALSE(stranded.contains(tile.index())) << "the stuck device may write to it";
          if (left.fetch_sub(1) <= 0 && stuck.abandoned()) return std::nullopt;
          return 64;
        },
        Stages{.make =
                   [this](StageContext const& context) {
                     struct Stuck final : Stage {
                       explicit Stuck(support::Gate* at) : gate(at) {}
                       std::size_t run(DeviceTile const& tile, StreamRef stream) override {
                         stream.launch(1, [at = gate](std::uint32_t) {
                           if (at != nullptr) at->pass();
                         });
                         return tile.input.size();
                       }
                       support::Gate* gate;
                     };
                     return std::make_unique<Stuck>(&context.device == &stuck ? &gate : nullptr);
                   },
               .merge = {}},
        [this](Completion& completion) {
          EXPECT_TRUE(seen.insert(completion.loan->sequence).second) << "it came twice";
          if (completion.outcome == Outcome::failed && completion.failure->stage != "sink") {
            EXPECT_EQ(completion.failure->kind, ErrorKind::device_lost);
          }
        });
  }
  void TearDown() override {
    EXPECT_EQ(pipeline->pool().on_loan(), 0u) << "a tile never came home";
    pipeline.reset();
    gate.open();
    EXPECT_EQ(healthy.outstanding(), cpu::Outstanding{});
  }
};

TEST_F(AStuckDevice, FailsTheTilesOfItsPipelineAndEndsTheRun) {
  make_pipeline({&stuck}, 8);
  Report const report = run();
  EXPECT_EQ(report.tiles_failed, seen.size()) << describe(report);
  EXPECT_GE(report.tiles_failed, 2u);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "stage");
  EXPECT_EQ(report.first_failure->sequence, 0u);
  EXPECT_THAT(report.first_failure->failure.reason, HasSubstr("finished none of a lane's tiles for 1000 ms"));
  EXPECT_EQ(pipeline->pool().stranded(), 2u);
}

TEST_F(AStuckDevice, LeavesTheRestToTheOther) {
  make_pipeline({&healthy, &stuck}, 8);
  Report const report = run();
  EXPECT_EQ(report.tiles(), seen.size()) << describe(report);
  EXPECT_GT(report.tiles_done, 200u);
  EXPECT_FALSE(healthy.lost());
  EXPECT_EQ(pipeline->pool().stranded(), 2u);
}

TEST_F(AStuckDevice, EndsTheRunIfItHasEveryTile) {
  make_pipeline({&stuck, &healthy}, 1);
  Report const report = run();
  EXPECT_EQ(report.tiles_failed, 1u) << describe(report);
  EXPECT_EQ(pipeline->pool().stranded(), 1u);
}

}  // namespace
}  // namespace penstock
