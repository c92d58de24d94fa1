// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_options.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using std::chrono::microseconds;
using support::SaysItIsAGpu;

/// Pipelines for small tiles that are to be through as soon as can be, on a machine of as many CPUs as a test says.
struct APipelineForLatency : testing::Test {
  SaysItIsAGpu gpu;
  PipelineOptions wanted{.tile = {.input_bytes = 4096, .output_bytes = 4096}, .aim = Aim::latency};
  std::vector<std::string> remarks;

  PipelineOptions on(unsigned cpus) {
    Topology const topology = Topology::from_synthetic("core:" + std::to_string(cpus) + " pu:1");
    remarks.clear();
    return resolve(wanted, {&gpu}, topology, remarks);
  }
};

TEST_F(APipelineForLatency, HasALaneThatNeverSleepsNorDoThoseWhoWait) {
  PipelineOptions const options = on(16);
  EXPECT_EQ(options.lanes, 1u);
  EXPECT_EQ(options.tuning.spin, Tuning::for_ever);
  EXPECT_EQ(options.tuning.borrow_spin, Tuning::for_ever);
  EXPECT_EQ(options.tuning.shape, LaneShape::split);
  EXPECT_TRUE(remarks.empty());
}

/// The pool itself looks at the count only after its memory was made.
TEST_F(APipelineForLatency, RefusesMoreTilesThanAPoolHoldsBeforeAnyMemoryIsMade) {
  wanted.tuning.tiles = Pool::max_tiles;
  EXPECT_EQ(on(16).tuning.tiles, Pool::max_tiles);
  wanted.tuning.tiles = Pool::max_tiles + 1;
  EXPECT_THROW(on(16), Error);
}

TEST_F(APipelineForLatency, LeavesItsStagesOneMultiprocessor) {
  EXPECT_EQ(gpu.info().compute_units, 1);
  EXPECT_EQ(on(16).tuning.spare, 0u);
  wanted.tuning.spare = 1;
  EXPECT_THROW(on(16), Error);
}

TEST_F(APipelineForLatency, IsNotWhatOneIsThatSaysNothing) {
  wanted.aim = Aim::throughput;
  PipelineOptions const options = on(16);
  EXPECT_EQ(options.lanes, 2u);
  EXPECT_EQ(options.tuning.spin, microseconds(200));
  EXPECT_EQ(options.tuning.borrow_spin, microseconds(20));
}

/// Seen to fail if it has as many slots and tiles as one for throughput: each lone tile then comes to memory that was
/// last used hundreds of tiles ago, and to a slot of which no graph was made yet.
TEST_F(APipelineForLatency, HasFewSlotsAndTilesThatStayWarm) {
  PipelineOptions const options = on(16);
  EXPECT_EQ(options.tuning.slots, 16u);
  EXPECT_EQ(options.tuning.batch, 4u) << "those of a burst go together";
  EXPECT_EQ(options.producers, 14u);
  EXPECT_EQ(options.tuning.tiles, 32u) << "one for each slot, producer and consumer, in whole batches";
  wanted.aim = Aim::throughput;
  EXPECT_EQ(on(16).tuning.slots, 512u);
  EXPECT_GT(on(16).tuning.tiles, 1024u);
}

TEST_F(APipelineForLatency, HasNoMoreOfLargeTilesThanOneForThroughput) {
  wanted.tile = {.input_bytes = std::size_t{64} << 20, .output_bytes = 64};
  EXPECT_EQ(on(16).tuning.batch, 1u);
  EXPECT_EQ(on(16).tuning.slots, 4u);
  std::size_t const tiles = on(16).tuning.tiles;
  wanted.aim = Aim::throughput;
  wanted.lanes = 1;
  EXPECT_EQ(on(16).tuning.slots, 4u);
  EXPECT_LE(tiles, on(16).tuning.tiles);
}

TEST_F(APipelineForLatency, HasSlotsForTheBatchesThatAreAskedFor) {
  wanted.tuning.batch = 32;
  EXPECT_EQ(on(16).tuning.batch, 32u);
  EXPECT_EQ(on(16).tuning.slots, 128u);
  wanted.tuning.batch = 1;
  EXPECT_EQ(on(16).tuning.slots, 16u);
}

TEST_F(APipelineForLatency, TakesSlotsAndTilesAsTheyAreAskedFor) {
  wanted.tuning.slots = 64;
  wanted.tuning.tiles = 200;
  EXPECT_EQ(on(16).tuning.slots, 64u);
  EXPECT_EQ(on(16).tuning.tiles, 200u);
  EXPECT_EQ(on(16).tuning.batch, 16u) << "a quarter of the slots";
  wanted.tuning.tiles = 0;
  EXPECT_EQ(on(16).tuning.tiles, 80u) << "64, 14 and 1, in whole batches";
}

TEST_F(APipelineForLatency, LeavesTwoCpusToTheRest) {
  EXPECT_EQ(on(5).tuning.borrow_spin, Tuning::for_ever);
  EXPECT_TRUE(remarks.empty());
  EXPECT_EQ(on(4).tuning.borrow_spin, microseconds(0));
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks[0].find("No thread watches for tiles"), std::string::npos) << remarks[0];
  EXPECT_EQ(on(3).tuning.spin, Tuning::for_ever);
  EXPECT_EQ(on(2).tuning.spin, microseconds(0));
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_NE(remarks[0].find("lanes do not spin"), std::string::npos) << remarks[0];
}

TEST_F(APipelineForLatency, DoesAsItIsToldBeyondThat) {
  wanted.lanes = 3;
  wanted.tuning.spin = microseconds(50);
  wanted.tuning.borrow_spin = microseconds(0);
  PipelineOptions const options = on(16);
  EXPECT_EQ(options.lanes, 3u);
  EXPECT_EQ(options.tuning.spin, microseconds(50));
  EXPECT_EQ(options.tuning.borrow_spin, microseconds(0));
}

TEST_F(APipelineForLatency, WhoseLanesCallTheSinkHasNoConsumerThatWatches) {
  wanted.tuning.sink_on_lanes = true;
  EXPECT_EQ(on(4).tuning.borrow_spin, Tuning::for_ever);
  wanted.host_stages = {{.name = "decode", .body = [](Tile&) {}}};
  EXPECT_EQ(on(4).tuning.borrow_spin, microseconds(0));
}

TEST_F(APipelineForLatency, TakesWhatIsLongerThanForEverForThat) {
  wanted.tuning.spin = wanted.tuning.borrow_spin = microseconds::max();
  EXPECT_EQ(on(16).tuning.spin, Tuning::for_ever);
  EXPECT_EQ(on(16).tuning.borrow_spin, Tuning::for_ever);
}

TEST_F(APipelineForLatency, SaysWhatIsLessThanWasAskedFor) {
  wanted.tuning.tiles = 16;
  wanted.tuning.slots = 100;
  wanted.tuning.batch = 9;
  EXPECT_EQ(on(16).tuning.slots, 16u);
  EXPECT_THAT(remarks, testing::ElementsAre("A lane has 16 slots and not 100, since the pool has no more tiles.",
                                            "A batch has 8 tiles and not 9, which would need 18 slots and 18 tiles."));
  wanted.tuning.slots = 16;
  wanted.tuning.batch = 8;
  EXPECT_EQ(on(16).tuning.batch, 8u);
  EXPECT_THAT(remarks, testing::IsEmpty());
}

}  // namespace
}  // namespace penstock
