// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/kept_awake.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using std::chrono::microseconds;
using support::SaysItIsAGpu;
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
    Plan made =
        awake.plan(wanted, {&device}, Topology::from_synthetic("numa:2 core:" + std::to_string(cpus_each) + " pu:1"));
    remarks = std::move(made.remarks);
    return std::move(made.options);
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

TEST_F(PipelinesOfOneProcess, BringEachTileHomeThoughNoThreadSleeps) {
  SaysItIsAGpu gpu;
  wanted = {.tile = {.input_bytes = 4096, .output_bytes = 4096}, .aim = Aim::latency};
  wanted.tuning.spin = wanted.tuning.borrow_spin = Tuning::for_ever;
  wanted.tuning.tiles = 2;
  wanted.consumers = 1;
  setenv("HWLOC_SYNTHETIC", "core:8 pu:1", 1);
  wanted.tuning.bind = Bind::none;
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

}  // namespace
}  // namespace penstock
