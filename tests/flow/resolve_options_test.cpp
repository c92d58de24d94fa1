// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/resolve_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/core/pool.hpp"
#include "penstock/error.hpp"
#include "penstock/flow/kept_awake.hpp"
#include "penstock/pipeline.hpp"

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

TEST_F(APipelineForLatency, BringsEachTileHomeAndEnds) {
  wanted.tuning.spin = wanted.tuning.borrow_spin = Tuning::for_ever;
  wanted.tuning.tiles = 2;
  wanted.consumers = 1;
  setenv("HWLOC_SYNTHETIC", "core:8 pu:1", 1);
  wanted.tuning.bind = false;
  Pipeline pipeline(gpu, wanted);
  unsetenv("HWLOC_SYNTHETIC");
  ASSERT_EQ(pipeline.options().tuning.spin, Tuning::for_ever);
  pipeline.start(on_device([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }), [](Completion&) {});
  for (unsigned tile = 0; tile < 20; ++tile) {
    Loan loan = pipeline.feed().borrow();
    loan->filled = loan->input().size();
    pipeline.feed().submit(std::move(loan));
  }
  Report const report = pipeline.drain();
  EXPECT_EQ(report.tiles_done, 20u) << describe(report);
  EXPECT_EQ(pipeline.pool().on_loan(), 0u);
}

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Pipelines of one process, each with a lane, a borrower and a consumer that stay awake, on two nodes of CPUs.
struct PipelinesOfOneProcess : testing::Test {
  SaysItIsAGpu of_first{0, 0}, of_second{1, 1};
  PipelineOptions wanted{.tile = {.input_bytes = 4096}, .aim = Aim::latency, .lanes = 1};
  std::vector<std::string> remarks;

  void TearDown() override { unsetenv("HWLOC_SYNTHETIC"); }
  PipelineOptions made(KeptAwake& awake, SaysItIsAGpu& device, unsigned cpus_each) {
    remarks.clear();
    return awake.resolve(wanted, {&device},
                         Topology::from_synthetic("numa:2 core:" + std::to_string(cpus_each) + " pu:1"), remarks);
  }
};

/// Seen to fail if each pipeline counts only its own.
TEST_F(PipelinesOfOneProcess, FindTheRoomThatOthersLeave) {
  std::optional<KeptAwake> first(std::in_place), second(std::in_place), third(std::in_place);
  EXPECT_EQ(made(*first, of_second, 6).tuning.borrow_spin, Tuning::for_ever);
  EXPECT_THAT(remarks, IsEmpty());
  PipelineOptions const less = made(*second, of_second, 6);
  EXPECT_EQ(less.tuning.spin, Tuning::for_ever) << "of six CPUs three are busy, one is for the lane, two for others";
  EXPECT_EQ(less.tuning.borrow_spin, microseconds(0));
  EXPECT_THAT(remarks,
              ElementsAre("No thread watches for tiles: that would leave fewer than two of the 6 CPUs of NUMA node "
                          "1 to everything else, since 1 lane spins there and 3 threads of other pipelines of "
                          "this process stay awake as well; use fewer lanes."));
  EXPECT_EQ(made(*third, of_second, 6).tuning.spin, microseconds(0));
  EXPECT_THAT(remarks, Contains(HasSubstr("1 of them would leave fewer than two of the 6 CPUs of NUMA node 1 to "
                                          "everything else, since 4 threads of other pipelines of this process stay "
                                          "awake as well; use fewer lanes.")));
  third.reset();
  first.reset();
  EXPECT_EQ(made(third.emplace(), of_second, 6).tuning.spin, Tuning::for_ever) << "there is room again";
}

TEST_F(PipelinesOfOneProcess, HaveTheirRoomOnNodesOfTheirOwn) {
  KeptAwake first, second;
  EXPECT_EQ(made(first, of_first, 5).tuning.borrow_spin, Tuning::for_ever);
  EXPECT_EQ(made(second, of_second, 5).tuning.borrow_spin, Tuning::for_ever);
  EXPECT_THAT(remarks, IsEmpty());
}

TEST_F(PipelinesOfOneProcess, TakeNoRoomIfTheySleepOrCannotBeMade) {
  KeptAwake asleep, refused, second;
  wanted.aim = Aim::throughput;
  wanted.tuning.spin = wanted.tuning.borrow_spin = microseconds(0);
  made(asleep, of_second, 5);
  wanted.tuning.tiles = Pool::max_tiles + 1;
  EXPECT_THROW(made(refused, of_second, 5), Error);
  wanted = {.tile = {.input_bytes = 4096}, .aim = Aim::latency, .lanes = 1};
  EXPECT_EQ(made(second, of_second, 5).tuning.borrow_spin, Tuning::for_ever);
}

/// Seen to fail if a pipeline asks what there is without the others.
TEST_F(PipelinesOfOneProcess, CountOneAnotherWhenTheyAreMade) {
  setenv("HWLOC_SYNTHETIC", "numa:1 core:6 pu:1", 1);
  SaysItIsAGpu device(0, 0);
  Pipeline const first(device, wanted);
  EXPECT_EQ(first.options().tuning.borrow_spin, Tuning::for_ever);
  Pipeline const second(device, wanted);
  EXPECT_EQ(second.options().tuning.borrow_spin, microseconds(0));
}

}  // namespace
}  // namespace penstock
