// SPDX-License-Identifier: Apache-2.0
// Promises of a lane for each tile that it is given.
#include <algorithm>
#include <thread>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/lane/lane_contract.hpp"

namespace penstock {
namespace {

TEST_P(LaneContract, CompletesEachTileOnceAndInTheOrderItCameWithItsOwnContent) {
  open_lane(add_one());
  constexpr std::size_t count = 300;
  for (std::size_t i = 0; i < count; ++i) submit(i);
  close_lane();
  expect_all_done(seen(), count);
}

TEST_P(LaneContract, CompletesEachTileOnceWhileItSpins) {
  std::size_t before = 0;
  for (auto const spin : {std::chrono::nanoseconds(std::chrono::milliseconds(1)), spin_for_ever}) {
    open_lane(add_one(), {.spin = spin});
    for (std::size_t i = 0; i < 100; ++i) submit(i);
    close_lane();
    expect_all_done(seen(), 100, before);
    before += 100;
  }
}

TEST_P(LaneContract, CompletesNothingThatTheDeviceStillWorksOn) {
  Holding held{.at = {1}};
  // It asks the device itself before it sleeps, so that it has every occasion to be wrong.
  open_lane(add_one_and_hold(held), {.spin = before_sleep(std::chrono::microseconds(100))});
  for (std::uint64_t i = 0; i < 4; ++i) submit(i);
  await_seen(1);
  held.await_came(4);
  held.hold->await_reached();
  held.await_asleep();
  EXPECT_EQ(seen().size(), 1u) << "tile 1 is held on the device, and the others are behind it";
  held.hold->open();
  EXPECT_EQ(await_seen(4).size(), 4u);
  close_lane();
  expect_all_done(seen(), 4);
}

TEST_P(LaneContract, IsCalledByItsDeviceWhenItSleeps) {
  std::uint64_t found_by_watchdog = 0;
  for (auto const spin : {std::chrono::milliseconds(0), std::chrono::milliseconds(50)}) {
    std::size_t const before = seen().size();
    Holding held{.at = {1}};
    open_lane(add_one_and_hold(held), {.spin = before_sleep(spin), .watchdog = no_honest_delay});
    submit(0);
    await_seen(before + 1);
    submit(1);
    held.await_came(2);
    held.await_asleep();
    held.hold->open();
    await_seen(before + 2);
    lane().close();
    found_by_watchdog += lane().summary().found.by_watchdog;
  }
  if (GetParam().signal == SignalKind::event_poll) GTEST_SKIP() << "It is never called: it asks the events itself.";
  EXPECT_EQ(found_by_watchdog, 0u) << "no watchdog was needed";
}

TEST_P(LaneContract, EnqueuesAsManyTilesAsItHasSlotsAndNoMore) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 3}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  held.await_came(3);
  held.await_asleep();
  EXPECT_EQ(lane().load(), 6u);
  EXPECT_EQ(held.came, 3u);
  EXPECT_TRUE(seen().empty());
  held.hold->open();
  await_seen(6);
  EXPECT_EQ(held.came, 6u);
}

TEST_P(LaneContract, FailsATileThatClaimsToHoldMoreThanItCan) {
  open_lane(add_one());
  Loan loan = pool().borrow();
  loan->filled = tile_bytes + 1;
  ASSERT_TRUE(lane().submit(loan));
  close_lane();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].stage, "upload");
}

TEST_P(LaneContract, CompletesAnEmptyTile) {
  open_lane(on_device([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }, {.reads_once = true}));
  Loan loan = pool().borrow();
  ASSERT_TRUE(lane().submit(loan));
  lane().close();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].outcome, Outcome::done) << seen()[0].reason;
  EXPECT_EQ(lane().summary().copies, 0u);
}

TEST_P(LaneContract, CancelsWhatHasNotStartedAndCompletesWhatHas) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 2}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  held.await_came(2);
  lane().cancel();
  auto const cancelled = await_seen(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cancelled[i].sequence, i + 2);
    EXPECT_EQ(cancelled[i].outcome, Outcome::cancelled);
  }
  held.hold->open();
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[4].outcome, Outcome::done);
  EXPECT_EQ(all[5].outcome, Outcome::done);
}

TEST_P(LaneContract, LeavesTheLoanToItsHolderOnceItIsClosed) {
  open_lane(add_one()).close();
  Loan loan = pool().borrow();
  EXPECT_FALSE(lane().submit(loan));
  EXPECT_TRUE(loan);
  EXPECT_EQ(lane().load(), 0u);
}

TEST_P(LaneContract, SaysInItsConstructorThatItHasNoSlot) {
  EXPECT_THROW(open_lane(add_one(), {.flight = {.slots = 0}}), Error);
}

TEST_P(LaneContract, TakesTilesFromManyThreads) {
  open_lane(add_one());
  constexpr std::size_t threads = 4, each = 200;
  {
    std::vector<std::jthread> submitters;
    for (std::size_t t = 0; t < threads; ++t) {
      submitters.emplace_back([&, t] {
        for (std::size_t i = 0; i < each; ++i) submit(t * each + i);
      });
    }
  }
  close_lane();
  auto all = seen();
  std::ranges::sort(all, {}, &Seen::sequence);
  expect_all_done(all, threads * each);
}

}  // namespace
}  // namespace penstock
