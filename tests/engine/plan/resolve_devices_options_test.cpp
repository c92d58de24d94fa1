// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "engine/plan/resolve_options.hpp"
#include "engine/plan/tile_count.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;

/// Pipelines of CPU devices, on a machine of as many CPUs as a test says.
struct APipelineOfCpuDevices : testing::Test {
  cpu::CpuDevice first{{.compute_threads = 1}}, second{{.compute_threads = 1}};
  PipelineOptions wanted{.tile = {.input_bytes = 1 << 20}};

  unsigned lanes(unsigned cpus, std::vector<Device*> const& devices) {
    std::vector<std::string> remarks;
    return resolve(wanted, devices, Topology::from_synthetic("core:" + std::to_string(cpus) + " pu:1"), remarks).lanes;
  }
};

TEST_F(APipelineOfCpuDevices, HasALaneForEachFourCpusButNoMoreThanFourADevice) {
  EXPECT_EQ(lanes(1, {&first}), 1u);
  EXPECT_EQ(lanes(7, {&first}), 1u);
  EXPECT_EQ(lanes(8, {&first}), 2u);
  EXPECT_EQ(lanes(64, {&first}), 4u);
  EXPECT_EQ(lanes(16, {&first, &second}), 4u);
  EXPECT_EQ(lanes(2, {&first, &second}), 2u);
  wanted.aim = Aim::latency;
  EXPECT_EQ(lanes(64, {&first}), 1u);
  wanted.lanes = 3;
  EXPECT_EQ(lanes(64, {&first}), 3u);
}

/// Pipelines of two GPUs that share the host's memory.
struct APipelineOfTwoGpus : testing::Test {
  SaysItIsAGpu first, second;
  PipelineOptions wanted{.tile = {.input_bytes = 4 << 20, .output_bytes = 4 << 20, .in_place = true}, .producers = 12};
  std::vector<std::string> remarks;

  PipelineOptions resolved() {
    return resolve(wanted, {&first, &second}, Topology::from_synthetic("core:32 pu:1"), remarks);
  }
};

TEST_F(APipelineOfTwoGpus, HasALaneForEachAndFewTilesAndSmallBatchesOfLargeOnes) {
  PipelineOptions const options = resolved();
  EXPECT_EQ(options.lanes, 2u);
  EXPECT_EQ(options.tuning.batch, 2u);
  EXPECT_EQ(options.tuning.slots, 8u);
  EXPECT_EQ(options.tuning.tiles, 20u)
      << "four for each GPU, one for each producer beyond the first, and whole batches";
}

TEST_F(APipelineOfTwoGpus, HasWhatOneGpuHasWhereBatchOrSlotsAreAskedFor) {
  wanted.tuning.batch = 8;
  EXPECT_EQ(resolved().tuning.batch, 8u);
  EXPECT_EQ(resolved().tuning.tiles, 48u);
  wanted.tuning.batch = 0;
  wanted.tuning.slots = 32;
  EXPECT_EQ(resolved().tuning.tiles, 48u);
}

/// Seen to fail with two lanes each, and with the batch of one GPU.
TEST_F(APipelineOfTwoGpus, HasALaneForEachAndSmallBatchesOfSmallTiles) {
  wanted.tile = {.input_bytes = 64 << 10, .output_bytes = 64 << 10, .in_place = true};
  wanted.producers = 1;
  PipelineOptions const options = resolved();
  EXPECT_EQ(options.lanes, 2u);
  EXPECT_EQ(options.tuning.batch, 64u);
  EXPECT_EQ(options.tuning.slots, 256u);
  EXPECT_EQ(options.tuning.tiles, 512u) << "32 MiB for both";
}

TEST_F(APipelineOfTwoGpus, HasTheTilesThatAreAskedFor) {
  wanted.tuning.tiles = 96;
  EXPECT_EQ(resolved().tuning.tiles, 96u);
}

/// The one with fewer multiprocessors is asked neither first nor last.
TEST_F(APipelineOfTwoGpus, LeavesAMultiprocessorToTheStagesOnEach) {
  SaysItIsAGpu large, small, larger;
  large.say_compute_units(8);
  small.say_compute_units(4);
  larger.say_compute_units(16);
  auto const with_spare = [&](unsigned spare) {
    wanted.tuning.spare = spare;
    return resolve(wanted, {&large, &small, &larger}, Topology::from_synthetic("core:32 pu:1"), remarks).tuning.spare;
  };
  EXPECT_EQ(with_spare(3), 3u);
  try {
    static_cast<void>(with_spare(4));
    ADD_FAILURE() << "the small one has no more than these";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr("the GPU has 4, so ask for 3 at most"));
  }
}

/// Seen to fail if tiles that are asked for, or tiles of one GPU, are a reserve.
TEST_F(APipelineOfTwoGpus, HasAReserveForItsProducersOfTheTilesThatItChoseItself) {
  EXPECT_EQ(reserve_tiles(wanted, resolved(), {&first, &second}), 10u);
  EXPECT_EQ(reserve_tiles(wanted, resolved(), {&first}), 0u);
  wanted.tuning.tiles = 96;
  EXPECT_EQ(reserve_tiles(wanted, resolved(), {&first, &second}), 0u);
  wanted.tuning.tiles = 0;
  wanted.tuning.batch = 2;
  EXPECT_EQ(reserve_tiles(wanted, resolved(), {&first, &second}), 0u);
}

}  // namespace
}  // namespace penstock
