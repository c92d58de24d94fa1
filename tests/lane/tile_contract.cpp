// SPDX-License-Identifier: Apache-2.0
// What a lane promises of each tile that it is given.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "lane/lane_contract.hpp"
#include "support/thread_state.hpp"
#include <unistd.h>

namespace penstock {
namespace {

TEST_P(LaneContract, CompletesEachTileOnceAndInTheOrderItCameWithItsOwnContent) {
  open_lane(add_one());
  constexpr std::size_t count = 300;
  for (std::size_t i = 0; i < count; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, Outcome::done) << all[i].reason;
    EXPECT_TRUE(all[i].content_right) << "tile " << i;
  }
}

TEST_P(LaneContract, CompletesEachTileOnceWhileItSpins) {
  std::size_t before = 0;
  for (auto const spin : {std::chrono::nanoseconds(std::chrono::milliseconds(1)), spin_for_ever}) {
    open_lane(add_one(), {.spin = spin});
    for (std::size_t i = 0; i < 100; ++i) submit(i);
    close_lane();
    auto const all = seen();
    ASSERT_EQ(all.size(), before + 100u);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(all[before + i].sequence, i);
      EXPECT_EQ(all[before + i].outcome, Outcome::done) << all[before + i].reason;
      EXPECT_TRUE(all[before + i].content_right) << "tile " << i;
    }
    before = all.size();
  }
}

TEST_P(LaneContract, CompletesNothingThatTheDeviceStillWorksOn) {
  std::optional<support::Hold> held;
  std::atomic<pid_t> thread{0};
  std::atomic<std::size_t> enqueued{0};
  // It asks the device itself before it sleeps, so that it has every occasion to be wrong.
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              thread = gettid();
              if (tile.sequence == 1) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.spin = before_sleep(std::chrono::microseconds(100))});
  for (std::uint64_t i = 0; i < 4; ++i) submit(i);
  await_seen(1);
  while (enqueued < 4) std::this_thread::yield();
  held->await_reached();
  support::await_asleep(thread);
  EXPECT_EQ(seen().size(), 1u) << "tile 1 is held on the device, and the others are behind it";
  held->open();
  EXPECT_EQ(await_seen(4).size(), 4u);
  close_lane();
  for (Seen const& tile : seen()) EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
}

TEST_P(LaneContract, IsCalledByItsDeviceWhenItSleeps) {
  for (auto const spin : {std::chrono::milliseconds(0), std::chrono::milliseconds(50)}) {
    SCOPED_TRACE(spin.count());
    std::size_t const before = seen().size();
    std::optional<support::Hold> held;
    std::atomic<pid_t> thread{0};
    std::atomic<bool> holding{false};
    open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
                thread = gettid();
                if (tile.sequence != 1) return;
                held.emplace(kernels().hold(stream));
                holding = true;
              }),
              {.spin = before_sleep(spin), .watchdog = std::chrono::seconds(5)});
    submit(0);
    await_seen(before + 1);
    submit(1);
    while (!holding) std::this_thread::yield();
    support::await_asleep(thread);
    held->open();
    await_seen(before + 2);
    lane().close();
    EXPECT_EQ(lane().summary().found_by_watchdog, 0u) << "nobody called it";
  }
}

TEST_P(LaneContract, EnqueuesAsManyTilesAsItHasSlotsAndNoMore) {
  std::optional<support::Hold> held;
  std::atomic<pid_t> thread{0};
  std::atomic<std::size_t> enqueued{0};
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              thread = gettid();
              if (tile.sequence == 0) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.flight = {.slots = 3}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  while (enqueued < 3) std::this_thread::yield();
  support::await_asleep(thread);
  EXPECT_EQ(lane().load(), 6u);
  EXPECT_EQ(enqueued, 3u);
  EXPECT_TRUE(seen().empty());
  held->open();
  await_seen(6);
  EXPECT_EQ(enqueued, 6u);
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
  open_lane(each_tile([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }));
  Loan loan = pool().borrow();
  ASSERT_TRUE(lane().submit(loan));
  close_lane();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].outcome, Outcome::done) << seen()[0].reason;
}

TEST_P(LaneContract, CancelsWhatHasNotStartedAndCompletesWhatHas) {
  std::optional<support::Hold> held;
  std::atomic<std::size_t> enqueued{0};
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              if (tile.sequence == 0) held.emplace(kernels().hold(stream));
              enqueued.fetch_add(1);
            }),
            {.flight = {.slots = 2}});
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  while (enqueued < 2) std::this_thread::yield();
  lane().cancel();
  auto const cancelled = await_seen(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cancelled[i].sequence, i + 2);
    EXPECT_EQ(cancelled[i].outcome, Outcome::cancelled);
  }
  held->open();
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
  ASSERT_EQ(all.size(), threads * each);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, Outcome::done) << all[i].reason;
    EXPECT_TRUE(all[i].content_right) << "tile " << i;
  }
}

}  // namespace
}  // namespace penstock
