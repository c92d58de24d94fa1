// SPDX-License-Identifier: Apache-2.0
// Tests what stages see of lanes that run their tiles to completion.
#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Three lanes that do all for their tiles.
struct StagesOfLanesThatRunToCompletion : testing::Test, Source {
  bool next(Tile& tile) override { return tile.sequence < tiles; }
  std::size_t fill(Tile& tile) override { return tile.input().size(); }
  Report run(Stages const& stages) {
    return pipeline.run(*this, stages, [](Completion&) {});
  }

  static constexpr std::uint64_t tiles = 500;
  cpu::CpuDevice device{{.compute_threads = 4}};
  Pipeline pipeline{
      device,
      {.tile = {.input_bytes = 4096}, .lanes = 3, .tuning = {.sink_on_lanes = true, .run_to_completion = true}}};
};

/// Seen to fail if a stage is told of all compute threads.
TEST_F(StagesOfLanesThatRunToCompletion, AreToldThatOneBlockDoes) {
  struct Asks final : Stage {
    explicit Asks(StageContext const& context) { EXPECT_EQ(context.multiprocessors(), 1U); }
    std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
  };
  EXPECT_TRUE(run(stage_per_lane<Asks>()).ok());
}

TEST_F(StagesOfLanesThatRunToCompletion, SeeAllTilesInTheirSequenceOnOneLane) {
  std::vector<std::uint64_t> order;
  std::vector<std::thread::id> threads;
  Report const report = run(in_order(on_device([&](DeviceTile const& tile, StreamRef) {
    order.push_back(tile.sequence);
    threads.push_back(std::this_thread::get_id());
    return std::size_t{0};
  })));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.lanes.size(), 1U);
  EXPECT_EQ(order.size(), tiles);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(threads, threads.front())), tiles);
}

/// A lane that fills a tile of another lane's key, and waits for the next, would have to compute meanwhile.
TEST_F(StagesOfLanesThatRunToCompletion, SeeThemInTheirSequenceByAKeyWhereProducersFill) {
  std::array<std::vector<std::uint64_t>, 3> order;
  Report const report = run(in_order_by(&Tile::sequence, on_device([&](DeviceTile const& tile, StreamRef) {
    order.at(tile.sequence % 3).push_back(tile.sequence);
    return std::size_t{0};
  })));
  EXPECT_TRUE(report.ok());
  for (auto const& of_lane : order) {
    EXPECT_TRUE(std::ranges::is_sorted(of_lane));
    EXPECT_GE(of_lane.size(), tiles / 3);
  }
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("not run to completion")));
}

}  // namespace
}  // namespace penstock
