// SPDX-License-Identifier: Apache-2.0
// Promises of a lane that puts several tiles on its device at once.
#include "engine/lane/batch_contract.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

#include "engine/core/pool.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneOfBatches);

class LaneOfBatches::Noting final : public Stage {
 public:
  Noting(LaneOfBatches& world, bool together) : world_(world), together_(together) {}
  Promises promises() const noexcept override { return {.reads_once = true}; }

  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    note({tile.sequence});
    meet(tile, stream);
    return add_one_to(tile, stream);
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    EXPECT_EQ(tiles.size(), produced.size());
    if (!together_) return false;
    std::vector<std::uint64_t> sequences;
    for (DeviceTile const& tile : tiles) sequences.push_back(tile.sequence);
    note(sequences);
    {
      std::scoped_lock const lock(world_.noted_mutex);
      world_.lists_noted.insert({tiles.data(), produced.data()});
    }
    for (DeviceTile const& tile : tiles) meet(tile, stream);
    for_each_stretch(tiles, [&](DeviceTile const& stretch, std::size_t) {
      add_one_to(stretch, stream);
      std::scoped_lock const lock(world_.noted_mutex);
      ++world_.stretches_noted;
    });
    for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = tiles[i].input.size();
    return true;
  }

 private:
  void note(std::vector<std::uint64_t> const& sequences) {
    std::scoped_lock const lock(world_.noted_mutex);
    world_.noted.push_back(sequences);
  }
  void meet(DeviceTile const& tile, StreamRef stream) {
    if (tile.sequence == 0) world_.door.pass();
    if (tile.sequence != 0 && tile.sequence == world_.later_at) world_.later.pass();
    world_.held.thread = gettid();
    if (world_.held.at.contains(tile.sequence)) world_.held.hold.emplace(world_.kernels().hold(stream));
    world_.held.came.fetch_add(1);
    if (tile.sequence != 0 && tile.sequence == world_.throws_at) throw std::runtime_error("not this one");
  }
  std::size_t add_one_to(DeviceTile const& tile, StreamRef stream) {
    if (!tile.input.empty()) world_.kernels().add_one(stream, tile.input);
    return tile.input.size();
  }

  LaneOfBatches& world_;
  bool const together_;
};

Stages LaneOfBatches::noting(bool together) {
  return {.make = [this, together](StageContext const&) { return std::make_unique<Noting>(*this, together); },
          .merge = {}};
}

void LaneOfBatches::open_and_keep(Stages const& stages, LaneOptions options) {
  if (options.batch == 1) options.batch = batch;
  options.flight.slots = slots;
  open_lane(stages, options);
  submit(0);
  door.await_reached();
  // The rest of its block is lent last.
  std::vector<Loan> block;
  while (block.size() + 1 < batch) block.push_back(pool().borrow());
}

void LaneOfBatches::open_with(std::uint64_t last, Stages const& stages, LaneOptions const& options) {
  open_and_keep(stages, options);
  for (std::uint64_t i = 1; i <= last; ++i) submit(i);
  door.open();
}

namespace {

TEST_P(LaneOfBatches, PutsWhatWaitsForItOnTheDeviceAtOnce) {
  open_with(16, noting());
  lane().close();
  expect_all_done(seen(), 17);
  EXPECT_EQ(batches(), (Batches{{0}, from_to(1, 8), from_to(9, 16)}));
  EXPECT_EQ(lane().summary().batches, 3u);
  EXPECT_EQ(lane().summary().tiles, 17u);
}

TEST_P(LaneOfBatches, GivesItsStageNeighboursSideBySide) {
  open_with(8, noting());
  lane().close();
  expect_all_done(seen(), 9);
  EXPECT_EQ(stretches(), 1u) << "eight full tiles that lie side by side in the pool";
  if (GetParam().transport == Transport::automatic) return;  // It depends on when the first tile is through.
  bool const copied = GetParam().transport == Transport::copies;
  EXPECT_EQ(lane().summary().copies, copied ? 4u : 0u) << "of the first tile and of the eight, both ways";
}

TEST_P(LaneOfBatches, MakesNoMemoryForALargerOne) {
  later_at = 3;
  open_with(2, noting());
  await_seen(3);
  submit(3);
  later.await_reached();
  for (std::uint64_t i = 4; i <= 11; ++i) submit(i);
  later.open();
  lane().close();
  expect_all_done(in_order(seen()), 12);
  EXPECT_EQ(batches().at(1).size(), 2u);
  EXPECT_EQ(batches().back().size(), 8u);
  EXPECT_EQ(lists().size(), 2u) << "one of the tiles and one of what they produced";
}

TEST_P(LaneOfBatches, CompletesWhatItsStageTakesOneByOne) {
  open_with(12, noting(false));
  lane().close();
  expect_all_done(seen(), 13);
  EXPECT_EQ(batches().size(), 13u);
  EXPECT_EQ(lane().summary().batches, 3u);
}

/// Seen to fail if all tiles of a batch fail with the one that threw.
TEST_P(LaneOfBatches, FailsOnlyTheTileWhoseRunThrew) {
  throws_at = 3;
  open_with(8, noting(false));
  lane().close();
  auto const all = seen();
  ASSERT_EQ(all.size(), 9u);
  for (Seen const& tile : all) {
    EXPECT_EQ(tile.outcome, tile.sequence == 3 ? Outcome::failed : Outcome::done) << tile.sequence;
    EXPECT_TRUE(tile.content_right) << tile.sequence;
  }
  EXPECT_EQ(all[3].stage, "stage");
  EXPECT_EQ(all[3].reason, "not this one");
}

TEST_P(LaneOfBatches, FailsAllThatItsStageTookTogetherAndThrewFor) {
  throws_at = 3;
  open_with(16, noting());
  lane().close();
  auto const all = seen();
  ASSERT_EQ(all.size(), 17u);
  for (Seen const& tile : all) {
    bool const with_three = tile.sequence >= 1 && tile.sequence <= 8;
    EXPECT_EQ(tile.outcome, with_three ? Outcome::failed : Outcome::done) << tile.sequence;
    EXPECT_EQ(tile.reason, with_three ? "not this one" : "");
  }
}

TEST_P(LaneOfBatches, FailsOnlyTheTileThatClaimsToHoldMoreThanItCan) {
  open_and_keep(noting());
  for (std::uint64_t i = 1; i <= 8; ++i) {
    if (i != 5) {
      submit(i);
      continue;
    }
    Loan loan = pool().borrow();
    loan->sequence = i;
    loan->filled = tile_bytes + 1;
    ASSERT_TRUE(lane().submit(loan));
  }
  door.open();
  lane().close();
  for (Seen const& tile : seen()) {
    EXPECT_EQ(tile.outcome, tile.sequence == 5 ? Outcome::failed : Outcome::done) << tile.sequence;
    EXPECT_TRUE(tile.content_right) << tile.sequence;
  }
  EXPECT_EQ(batches().at(1), (std::vector<std::uint64_t>{1, 2, 3, 4, 6, 7, 8}));
}

/// Seen to fail if neighbours are copied as one though the first of them is not full.
TEST_P(LaneOfBatches, CopiesOfEachTileWhatIsFilled) {
  open_and_keep(noting());
  for (std::uint64_t i = 1; i <= 16; ++i) submit(i, i % 3 == 0 ? 0 : tile_bytes >> (i % 4));
  door.open();
  lane().close();
  auto const all = seen();
  ASSERT_EQ(all.size(), 17u);
  for (Seen const& tile : all) {
    EXPECT_EQ(tile.outcome, Outcome::done) << tile.reason;
    EXPECT_TRUE(tile.content_right) << tile.sequence;
  }
}

/// Tiles that come home in another order than they left, so that those which wait lie anywhere in the pool.
TEST_P(LaneOfBatches, CompletesEachOnceWhereverItLies) {
  constexpr std::uint64_t threads = 3, each = 400;
  door.open();
  open_and_keep(noting());
  {
    std::vector<std::jthread> submitters;
    for (std::uint64_t t = 0; t < threads; ++t) {
      submitters.emplace_back([&, t] {
        for (std::uint64_t i = 1 + t; i <= threads * each; i += threads) submit(i, i % 7 == 0 ? 512 : tile_bytes);
      });
    }
  }
  lane().close();
  expect_all_done(in_order(seen()), threads * each + 1);
  EXPECT_EQ(lane().summary().tiles, threads * each + 1);
}

}  // namespace
}  // namespace penstock
