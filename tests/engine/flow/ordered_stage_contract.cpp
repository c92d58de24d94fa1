// SPDX-License-Identifier: Apache-2.0
// Promises of in_order and in_order_by.
#include "engine/flow/ordered_stage_contract.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "support/gate.hpp"

#include "engine/core/pool.hpp"

namespace penstock {

/// The stage of one lane.
class OrderedStageContract::Counting final : public Stage {
 public:
  Counting(StageContext const& context, OrderedStageContract& test)
      : lane_(context.lane), test_(test), count_(context.device.allocate(context.shape.output_bytes)) {}
  void prepare(StreamRef stream) override { test_.kernels().fill(stream, count(), std::byte{0}); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    {
      std::scoped_lock const lock(test_.mutex_);
      test_.asked_[lane_].push_back(tile.sequence);
    }
    test_.kernels().add_one(stream, count());
    stream.copy(tile.output, count());
    return tile.output.size();
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = run(tiles[i], stream);
    return true;
  }

 private:
  DeviceSpan<std::byte> count() const { return DeviceSpan<std::byte>(count_.bytes()); }

  unsigned const lane_;
  OrderedStageContract& test_;
  DeviceMemory const count_;
};

Stages OrderedStageContract::counting() {
  return {.make = [this](StageContext const& context) { return std::make_unique<Counting>(context, *this); },
          .merge = {}};
}

Sequences OrderedStageContract::take_asked(unsigned lane) {
  std::scoped_lock const lock(mutex_);
  return std::exchange(asked_[lane], {});
}

namespace {

/// Its first tile is filled only once the second one is, if there are producers for both. Every tile has its
/// sequence as its tag. Tiles named in `fails` cannot be filled.
class LateFirstTile final : public Source {
 public:
  LateFirstTile(std::uint64_t count, bool late, Sequences fails = {})
      : count_(count), late_(late), fails_(std::move(fails)) {}
  bool next(Tile& tile) override {
    tile.tag = tile.sequence;
    return tile.sequence < count_;
  }
  std::size_t fill(Tile& tile) override {
    if (late_ && tile.sequence == 0) second_.pass();
    if (tile.sequence == 1) second_.open();
    if (std::ranges::count(fails_, tile.sequence) != 0) throw std::runtime_error("cannot be read");
    return tile.input().size();
  }

 private:
  std::uint64_t const count_;
  bool const late_;
  Sequences const fails_;
  support::Gate second_;
};

Sequences first(std::uint64_t count) {
  Sequences all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

/// Seen to fail if the route gives tiles to a lane as they come, and if an intake takes whole blocks of the pool.
TEST_P(OrderedStageContract, SeesEveryTileInItsSequenceWhateverProducersAndBatchesThereAre) {
  constexpr std::uint64_t tiles = 300;
  for (unsigned const producers : {1U, 2U, 3U, 8U}) {
    for (unsigned const batch : {1U, 4U}) {
      SCOPED_TRACE(testing::Message() << producers << " producers, batches of " << batch);
      PipelineOptions options = usual(producers);
      options.tuning.tiles = 16;
      options.tuning.slots = 2 * batch;
      options.tuning.batch = batch;
      open(options);
      std::size_t const before = sunk().size();
      LateFirstTile source(tiles, producers > 1);
      Report const report = pipeline().run(source, in_order(counting()), note());
      EXPECT_TRUE(report.ok()) << describe(report);
      EXPECT_EQ(take_asked(0), first(tiles));
      EXPECT_EQ(report.lanes.size(), 1U) << "all tiles have one lane";
      auto const all = sunk();
      ASSERT_EQ(all.size(), before + tiles);
      for (std::size_t i = before; i < all.size(); ++i) {
        EXPECT_TRUE(all[i].content_right) << "the device computed tile " << all[i].sequence << " at another place";
      }
    }
  }
}

TEST_P(OrderedStageContract, SeesTilesThatThreadsSubmitInTheOrderOfTheirSequence) {
  open(usual());
  pipeline().start(in_order(counting()), note());
  {
    std::vector<std::jthread> application;
    for (int t = 0; t < 4; ++t) {
      application.emplace_back([feed = pipeline().feed()] {
        for (int i = 0; i < 100; ++i) {
          Loan loan = feed.borrow();
          loan->filled = loan->input().size();
          feed.submit(std::move(loan));
        }
      });
    }
  }
  Report const report = pipeline().drain();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(take_asked(0), first(400));
  for (Sunk const& tile : sunk()) EXPECT_TRUE(tile.content_right) << tile.sequence;
}

/// Seen to fail if the key does not choose the lane.
TEST_P(OrderedStageContract, SeesTheTilesOfAKeyOnOneLaneInTheirSequence) {
  constexpr std::uint64_t tiles = 300, keys = 5;
  PipelineOptions options = usual(4);
  options.lanes = 3;
  options.tuning.tiles = 12;
  open(options);
  LateFirstTile source(tiles, true);
  auto const key = [](Tile const& tile) { return tile.tag % keys; };
  Report const report = pipeline().run(source, in_order_by(key, counting()), [](Completion&) {});
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.lanes.size(), 3U);
  for (unsigned lane = 0; lane < 3; ++lane) {
    Sequences expected = first(tiles);
    std::erase_if(expected, [&](std::uint64_t sequence) { return sequence % keys % 3 != lane; });
    EXPECT_EQ(take_asked(lane), expected) << "lane " << lane;
  }
}

TEST_P(OrderedStageContract, IsNotAskedForTilesThatFailedBeforeItAndGoesOnBehindThem) {
  PipelineOptions options = usual();
  options.host_stages = {{.name = "picky", .body = [](Tile& tile) {
                            if (tile.tag == 9) throw std::runtime_error("no nines");
                          }}};
  open(options);
  auto const key = [](Tile const& tile) {
    if (tile.tag == 7) throw std::runtime_error("no key");
    return tile.tag % 2;
  };
  LateFirstTile source(40, true, {0, 3, 4, 39});
  Report const report = pipeline().run(source, in_order_by(key, counting()), note());
  EXPECT_EQ(report.tiles_failed, 6U);
  EXPECT_EQ(report.tiles_done, 34U);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Sequences expected = first(40);
    std::erase_if(expected, [&](std::uint64_t one) {
      return one % 2 != lane || one == 0 || one == 3 || one == 4 || one == 39 || one == 7 || one == 9;
    });
    EXPECT_EQ(take_asked(lane), expected);
  }
  std::map<std::uint64_t, std::string> failed;
  for (Sunk const& tile : sunk()) {
    if (tile.outcome == Outcome::failed) failed[tile.sequence] = tile.stage;
  }
  EXPECT_EQ(failed[7], "stage") << "a key that throws fails the tile there";
  EXPECT_EQ(failed[9], "picky");
}

TEST_P(OrderedStageContract, StopsAtAnyMomentWithACompletionForEachTile) {
  for (std::uint64_t const stop_at : {0U, 1U, 7U, 50U}) {
    open(usual(4));
    std::stop_source stop;
    std::atomic<std::uint64_t> seen{0};
    LateFirstTile source(1'000'000, true);
    Report const report = pipeline().run(
        source, in_order_by(&Tile::tag, counting()),
        [&](Completion& completion) {
          seen.fetch_add(1);
          if (completion.loan->sequence >= stop_at) stop.request_stop();
        },
        stop.get_token());
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.tiles(), seen.load());
    for (unsigned lane = 0; lane < 2; ++lane) EXPECT_TRUE(std::ranges::is_sorted(take_asked(lane))) << lane;
  }
}

/// Both are promised together: the sink is served behind another sequencer.
TEST_P(OrderedStageContract, GoesWithAnOrderedSink) {
  PipelineOptions options = usual(4);
  options.ordered = true;
  open(options);
  LateFirstTile source(200, true);
  Report const report = pipeline().run(source, in_order_by(&Tile::tag, counting()), note());
  EXPECT_TRUE(report.ok()) << describe(report);
  Sequences order;
  for (Sunk const& tile : sunk()) order.push_back(tile.sequence);
  EXPECT_EQ(order, first(200));
}

TEST_P(OrderedStageContract, LeavesTheNextRunOfItsPipelineWithAllLanes) {
  open(usual());
  LateFirstTile ordered(20, true), plain(20, true);
  EXPECT_EQ(pipeline().run(ordered, in_order(counting()), note()).lanes.size(), 1U);
  EXPECT_EQ(pipeline().run(plain, counting(), [](Completion&) {}).lanes.size(), 2U);
}

}  // namespace
}  // namespace penstock
