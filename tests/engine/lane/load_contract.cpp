// SPDX-License-Identifier: Apache-2.0
// Lanes with next to nothing to do, with too much, and with as many tiles as there can be.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/lane/many_tiles_contract.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneOfManyTiles);

std::vector<LaneUnderTest> one_lane_per_signal_on(DeviceUnderTest const& device) {
  std::vector<LaneUnderTest> lanes;
  for (SignalKind const signal : all_signal_kinds) {
    // Each mode and each shape for some of them.
    auto const turn = lanes.size();
    lanes.push_back({device, signal, turn % 2 == 0 ? StreamMode::thread_default : StreamMode::own,
                     all_lane_shapes.at(turn % all_lane_shapes.size())});
  }
  return lanes;
}

namespace {

TEST_P(LaneContract, IsCalledForEachTileOfAStarvedLane) {
  open_lane(add_one(), {.watchdog = no_honest_delay});
  constexpr std::size_t count = 100;
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(i);
    await_seen(i + 1);
  }
  lane().close();
  expect_all_done(seen(), count);
  if (GetParam().signal == SignalKind::event_poll) GTEST_SKIP() << "It is never called: it asks the events itself.";
  EXPECT_EQ(lane().summary().found.by_watchdog, 0u);
}

TEST_P(LaneContract, CompletesEachTileOnceThoughItsInboxIsAlwaysFull) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 2}});
  constexpr std::uint64_t count = 600;
  submit(0);
  held.await_came(1);
  std::atomic<std::uint64_t> next{1};
  {
    std::vector<std::jthread> submitters;
    for (int t = 0; t < 3; ++t) {
      submitters.emplace_back([&] {
        // They wait in borrow, so that each tile that comes home goes back at once.
        for (std::uint64_t own = next++; own < count; own = next++) submit(own);
      });
    }
    // The lane has every tile before the first comes home.
    while (lane().load() < tiles) std::this_thread::yield();
    held.hold->open();
  }
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), count);
  std::vector<int> times(count, 0);
  for (Seen const& tile : all) {
    ++times.at(tile.sequence);
    EXPECT_EQ(tile.outcome, Outcome::done) << tile.reason;
    EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
  }
  EXPECT_EQ(times, std::vector<int>(count, 1));
}

TEST_P(LaneOfManyTiles, CompletesEachOnceAndInOrderThoughAllAreInFlight) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = static_cast<unsigned>(tiles)}});
  for (std::uint64_t i = 0; i < tiles; ++i) submit(i);
  // A GPU's queues are bounded, and the lane may be waiting for room there.
  bool const bounded = device().info().kind == DeviceKind::cuda;
  held.await_came(bounded ? 1 : tiles);
  EXPECT_EQ(lane().load(), tiles);
  held.hold->open();
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), tiles);
  for (std::size_t i = 0; i < tiles; ++i) {
    ASSERT_EQ(all[i].sequence, i);
    ASSERT_EQ(all[i].outcome, Outcome::done) << all[i].reason;
    ASSERT_TRUE(all[i].content_right) << "tile " << i;
  }
}

}  // namespace
}  // namespace penstock
