// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane_set.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/core/pool.hpp"
#include "penstock/cpu/cpu_device.hpp"

namespace penstock {
namespace {

constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256};

/// Two lanes of one device, and a pool of eight tiles.
struct TwoLanes : testing::Test {
  cpu::CpuDevice device;
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 8));
  Pool pool{slab, shape, 8};
  std::atomic<std::size_t> back{0};

  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }
  /// What the lanes did with all tiles of the pool, twice, one after the other.
  std::vector<LaneSummary> one_by_one(unsigned batch) {
    LaneOptions options;
    options.batch = batch;
    options.flight.slots = 8;
    LaneSet lanes({{&device, {}}, {&device, {}}}, shape, pool.size(), options,
                  each_tile([](DeviceTile const&, StreamRef) { return std::size_t{0}; }),
                  [this](Completion completion) {
                    completion.loan.give_back();
                    ++back;
                  });
    for (std::size_t i = 1; i <= 2 * pool.size(); ++i) {
      Loan loan = pool.borrow();
      EXPECT_TRUE(lanes.submit(loan));
      while (back < i) std::this_thread::yield();
    }
    lanes.close();
    return lanes.summaries();
  }
};

TEST_F(TwoLanes, TakeTurns) {
  auto const each = one_by_one(1);
  EXPECT_EQ(each[0].tiles, 8u);
  EXPECT_EQ(each[1].tiles, 8u);
}

/// Seen to fail if blocks may be as large as the pool: all of it is then the first lane's.
TEST_F(TwoLanes, HaveTheirBlocksEachThoughABatchIsAsLargeAsThePool) {
  auto const each = one_by_one(8);
  EXPECT_EQ(each[0].tiles, 8u);
  EXPECT_EQ(each[1].tiles, 8u);
}

}  // namespace
}  // namespace penstock
