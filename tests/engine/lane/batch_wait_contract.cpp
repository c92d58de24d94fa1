// SPDX-License-Identifier: Apache-2.0
// Tests for how long a lane that puts several tiles on its device at once lets one wait for the others.
#include <algorithm>
#include <chrono>

#include "engine/core/pool.hpp"
#include "engine/lane/batch_contract.hpp"

namespace penstock {
namespace {

/// Seen to fail without the wait.
TEST_P(LaneOfBatches, WaitsForAWholeBatchWhileTheDeviceHasHalfOfItsSlots) {
  held.at = {1};
  open_with(16, noting());
  held.await_came(17);
  for (std::uint64_t i = 17; i < 24; ++i) submit(i);
  held.await_asleep();
  EXPECT_EQ(held.came, 17u) << "seven are no whole batch, and the device has 16";
  submit(24);
  held.await_came(25);
  held.hold->open();
  lane().close();
  expect_all_done(in_order(seen()), 25);
  auto last = batches().back();
  std::ranges::sort(last);
  EXPECT_EQ(last, from_to(17, 24));
}

TEST_P(LaneOfBatches, WaitsForNeighboursNotForAnyEight) {
  held.at = {1};
  open_with(16, noting());
  held.await_came(17);
  // Four of one block and four of the next.
  std::vector<Loan> between;
  for (std::uint64_t i = 17; i <= 20; ++i) submit(i);
  for (int i = 0; i < 4; ++i) between.push_back(pool().borrow());
  for (std::uint64_t i = 21; i <= 24; ++i) submit(i);
  held.await_asleep();
  EXPECT_EQ(held.came, 17u);
  held.hold->open();
  lane().close();
  between.clear();
  expect_all_done(in_order(seen()), 25);
}

/// Seen to fail if whole blocks always go first: a neighbour may be out for ever.
TEST_P(LaneOfBatches, LetsFourWholeBlocksPassATileThatWaitsAndNoMore) {
  held.at = {1};
  open_with(16, noting(), {.batch = 2});
  held.await_came(17);
  {
    Loan const neighbour = pool().borrow();
    submit(17);
    held.await_asleep();
    for (std::uint64_t i = 18; i <= 25; ++i) submit(i);
    held.await_came(26);
  }
  auto const last = batches().back();
  held.hold->open();
  lane().close();
  expect_all_done(in_order(seen()), 26);
  EXPECT_EQ(last, (std::vector<std::uint64_t>{17}));
}

/// Seen to fail if it waits all the same.
TEST_P(LaneOfBatches, WaitsNoLongerWhenItIsToHurry) {
  held.at = {1};
  open_with(16, noting(), {.watchdog = std::chrono::hours(1)});
  held.await_came(17);
  for (std::uint64_t i = 17; i < 20; ++i) submit(i);
  held.await_asleep();
  EXPECT_EQ(held.came, 17u);
  lane().flush();
  held.await_came(20);
  held.hold->open();
  lane().close();
  expect_all_done(in_order(seen()), 20);
}

TEST_P(LaneOfBatches, PutsWhatItHasOnceTheDeviceHasLessThanHalf) {
  held.at = {9};
  open_with(16, noting());
  held.await_came(17);
  for (std::uint64_t i = 17; i < 20; ++i) submit(i);
  await_seen(9);  // The first nine are done, so that only eight are left on the device.
  held.await_came(20);
  held.hold->open();
  lane().close();
  expect_all_done(in_order(seen()), 20);
}

/// Seen to fail if what was gathered is put all the same, and to hang if the lane does not wake for it.
TEST_P(LaneOfBatches, CancelsWhatWaitsForItsBatch) {
  held.at = {1};
  open_with(16, noting(), {.watchdog = std::chrono::hours(1)});
  held.await_came(17);
  for (std::uint64_t i = 17; i < 20; ++i) submit(i);
  held.await_asleep();
  lane().cancel();
  // Tile 0 was through before.
  for (Seen const& tile : await_seen(4)) {
    EXPECT_EQ(tile.outcome, tile.sequence == 0 ? Outcome::done : Outcome::cancelled) << tile.sequence;
  }
  held.hold->open();
  lane().close();
  EXPECT_EQ(seen().size(), 20u);
}

TEST_P(LaneOfBatches, PutsNoMoreAtOnceThanItHasSlotsForTwice) {
  open_lane(noting(), {.flight = {.slots = 6}, .batch = batch});
  submit(0);
  door.await_reached();
  for (std::uint64_t i = 1; i < 20; ++i) submit(i);
  door.open();
  lane().close();
  expect_all_done(in_order(seen()), 20);
  for (auto const& together : batches()) EXPECT_LE(together.size(), 3u) << "half of them";
}

TEST_P(LaneOfBatches, SaysInItsConstructorThatItTakesNone) {
  EXPECT_THROW(open_lane(noting(), {.batch = 0}), Error);
}

}  // namespace
}  // namespace penstock
