// SPDX-License-Identifier: Apache-2.0
// Tests what becomes of a lane's tiles, at whatever moment it is closed, cancelled or destroyed.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/lane/lane_contract.hpp"

namespace penstock {
namespace {

/// Returns the outcomes of the last `count` tiles that were seen, by their sequence from 0 on.
std::vector<Outcome> outcomes_by_sequence(std::vector<Seen> const& seen, std::size_t count) {
  std::vector<Outcome> outcomes(count, Outcome::failed);
  std::vector<int> times(count, 0);
  for (std::size_t i = seen.size() - count; i < seen.size(); ++i) {
    EXPECT_TRUE(seen[i].content_right) << "tile " << seen[i].sequence;
    EXPECT_LT(seen[i].sequence, count);
    if (seen[i].sequence >= count) continue;
    outcomes[seen[i].sequence] = seen[i].outcome;
    ++times[seen[i].sequence];
  }
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; })) << "a tile was completed twice";
  return outcomes;
}

/// Returns true if all are done up to some tile and cancelled from there on; nothing failed.
bool done_then_cancelled(std::vector<Outcome> const& outcomes) {
  auto const first = std::find(outcomes.begin(), outcomes.end(), Outcome::cancelled);
  return std::all_of(outcomes.begin(), first, [](Outcome outcome) { return outcome == Outcome::done; }) &&
         std::all_of(first, outcomes.end(), [](Outcome outcome) { return outcome == Outcome::cancelled; });
}

TEST_P(LaneContract, CompletesAllThatItHasAtWhateverMomentItIsClosed) {
  std::size_t total = 0;
  for (std::size_t count = 0; count <= tiles; ++count) {
    open_lane(add_one(), {.flight = {.slots = 2}});
    for (std::uint64_t i = 0; i < count; ++i) submit(i);
    close_lane();
    total += count;
    ASSERT_EQ(seen().size(), total);
    for (Outcome const outcome : outcomes_by_sequence(seen(), count)) EXPECT_EQ(outcome, Outcome::done);
  }
}

TEST_P(LaneContract, CompletesOrCancelsAllThatItHasAtWhateverMomentItDies) {
  std::size_t total = 0;
  for (std::size_t count = 0; count <= tiles; ++count) {
    open_lane(add_one(), {.flight = {.slots = 2}});
    for (std::uint64_t i = 0; i < count; ++i) submit(i);
    destroy_lane();
    total += count;
    ASSERT_EQ(seen().size(), total);
    EXPECT_TRUE(done_then_cancelled(outcomes_by_sequence(seen(), count)));
  }
}

TEST_P(LaneContract, CompletesOrCancelsAllThatItHasAndGetsAtWhateverMomentItIsCancelled) {
  std::size_t total = 0;
  for (std::size_t before = 0; before <= tiles / 2; ++before) {
    open_lane(add_one(), {.flight = {.slots = 2}});
    for (std::uint64_t i = 0; i < before; ++i) submit(i);
    lane().cancel();
    for (std::uint64_t i = before; i < tiles; ++i) submit(i);
    close_lane();
    total += tiles;
    ASSERT_EQ(seen().size(), total);
    auto const outcomes = outcomes_by_sequence(seen(), tiles);
    EXPECT_TRUE(done_then_cancelled(outcomes));
    for (std::size_t i = before; i < tiles; ++i) EXPECT_EQ(outcomes[i], Outcome::cancelled);
  }
}

TEST_P(LaneContract, WaitsForWhatItsDeviceHoldsAndCancelsTheRestWhenItDies) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 2}});
  for (std::uint64_t i = 0; i < 6; ++i) submit(i);
  held.await_came(2);
  std::jthread const opener([&] {
    for (Seen const& tile : await_seen(4)) EXPECT_EQ(tile.outcome, Outcome::cancelled);
    held.hold->open();
  });
  destroy_lane();
  ASSERT_EQ(seen().size(), 6u);
  auto const outcomes = outcomes_by_sequence(seen(), 6);
  EXPECT_TRUE(done_then_cancelled(outcomes));
  EXPECT_EQ(outcomes[1], Outcome::done);
  EXPECT_EQ(outcomes[2], Outcome::cancelled);
}

TEST_P(LaneContract, CompletesWhatItsDeviceHoldsAndWhatWaitsWhenItIsClosed) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 2}});
  for (std::uint64_t i = 0; i < 6; ++i) submit(i);
  held.await_came(2);
  lane().stop_taking();
  EXPECT_FALSE(try_submit(6)) << "it was closed";
  held.await_asleep();
  EXPECT_TRUE(seen().empty());
  held.hold->open();
  close_lane();
  ASSERT_EQ(seen().size(), 6u);
  for (Outcome const outcome : outcomes_by_sequence(seen(), 6)) EXPECT_EQ(outcome, Outcome::done);
}

TEST_P(LaneContract, TakesATileForGoodOrLeavesItWhoeverClosesItMeanwhile) {
  for (std::size_t const wanted : {0u, 1u, 5u, 20u}) {
    for (bool const cancelled : {false, true}) {
      std::size_t const before = seen().size();
      open_lane(add_one(), {.flight = {.slots = 2}});
      std::atomic<std::uint64_t> next{0};
      std::mutex mutex;
      std::vector<std::uint64_t> taken;
      {
        std::vector<std::jthread> submitters;
        for (int t = 0; t < 2; ++t) {
          submitters.emplace_back([&] {
            for (std::uint64_t own = next++; try_submit(own); own = next++) {
              std::scoped_lock const lock(mutex);
              taken.push_back(own);
            }
          });
        }
        await_seen(before + wanted);
        if (cancelled) lane().cancel();
        lane().close();
      }
      destroy_lane();
      auto all = seen();
      std::vector<std::uint64_t> completed;
      for (std::size_t i = before; i < all.size(); ++i) {
        completed.push_back(all[i].sequence);
        EXPECT_NE(all[i].outcome, Outcome::failed) << all[i].reason;
        EXPECT_TRUE(all[i].content_right);
        EXPECT_EQ(all[i].outcome == Outcome::cancelled && !cancelled, false);
      }
      std::sort(taken.begin(), taken.end());
      std::sort(completed.begin(), completed.end());
      EXPECT_EQ(taken, completed);
    }
  }
}

}  // namespace
}  // namespace penstock
