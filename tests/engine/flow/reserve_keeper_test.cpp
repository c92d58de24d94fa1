// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/reserve_keeper.hpp"

#include <array>
#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Four producers whose times are told and not measured, and a pool of four tiles, two of them its reserve.
struct AReserveAndItsCrew : testing::Test {
  static constexpr std::size_t tiles = 4;
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  std::array<PoolPart, 1> cut{PoolPart{slab, tiles}};
  Pool pool{cut, {.input_bytes = 256}, {}, 2};
  std::stop_source over;
  std::optional<ReserveKeeper> keeper;
  std::optional<Crew> crew;
  Clock::time_point now = Clock::now();

  void open(milliseconds patience) {
    keeper.emplace(pool);
    crew.emplace(4, 1, over.get_token(), patience, [this](Clock::time_point when) { keeper->fit(*crew, when); });
  }
  /// All producers at work fill 40 tiles in each round. A tile takes 50 us, and filling it so long.
  void all_work(int rounds, microseconds filled) {
    for (int round = 0; round < rounds; ++round) {
      now += milliseconds(2);
      for (std::size_t worker = crew->at_work(); worker-- > 0;) {
        for (int tile = 0; tile < 40; ++tile) {
          crew->note(worker, now + tile * microseconds(50), {microseconds(45) - filled, filled});
        }
      }
    }
  }
};

/// Seen to fail if it closes with three, and if the first producer does not look.
TEST_F(AReserveAndItsCrew, IsClosedWhileTwoAreAtWorkAndOpenWhileMoreAre) {
  open(hours(1));
  all_work(1, microseconds(40));
  EXPECT_EQ(crew->at_work(), 4U);
  EXPECT_TRUE(pool.reserve_is_open());
  all_work(8, microseconds(10));
  EXPECT_LE(crew->at_work(), 2U);
  EXPECT_FALSE(pool.reserve_is_open());
  while (crew->at_work() < 3) all_work(1, microseconds(44));
  EXPECT_TRUE(pool.reserve_is_open());
}

/// Seen to fail if what a sink keeps does not count, and if it counts for good.
TEST_F(AReserveAndItsCrew, IsOpenForAWhileOnceNoProducerGotATile) {
  open(milliseconds(1));
  all_work(8, microseconds(10));
  ASSERT_EQ(crew->at_work(), 1U);
  ASSERT_FALSE(pool.reserve_is_open());
  crew->rest(1);
  EXPECT_EQ(crew->at_work(), 2U);
  EXPECT_TRUE(pool.reserve_is_open());
  now = crew->last_want() + ReserveKeeper::open_after_want - milliseconds(10);
  all_work(1, microseconds(10));
  EXPECT_TRUE(pool.reserve_is_open());
  now = crew->last_want() + ReserveKeeper::open_after_want;
  all_work(1, microseconds(10));
  EXPECT_FALSE(pool.reserve_is_open());
}

TEST_F(AReserveAndItsCrew, IsOpenOnceTheCrewIsGone) {
  open(hours(1));
  all_work(8, microseconds(10));
  ASSERT_FALSE(pool.reserve_is_open());
  crew.reset();
  keeper.reset();
  EXPECT_TRUE(pool.reserve_is_open());
}

}  // namespace
}  // namespace penstock
