// SPDX-License-Identifier: Apache-2.0
// Promises of a lane to a stage that may be captured.
#include "engine/lane/graphs_contract.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace penstock {

std::vector<LaneUnderTest> lanes_of_graphs_on(DeviceUnderTest const& device) {
  auto lanes = every_transport_on(device);
  std::erase_if(lanes, [](LaneUnderTest const& lane) { return lane.signal != SignalKind::callback; });
  return lanes;
}

std::vector<LaneUnderTest> lanes_of_copies_on(DeviceUnderTest const& device) {
  auto lanes = lanes_of_graphs_on(device);
  std::erase_if(lanes, [](LaneUnderTest const& lane) { return lane.transport != Transport::copies; });
  return lanes;
}

namespace {

TEST_P(LaneOfGraphs, LaunchesGraphsOfCopiedTilesAlone) {
  auto const did = run(add_one_in_halves(), 20, with(Graphs::always));
  EXPECT_EQ(did.graphs, copied(did, 20));
  EXPECT_EQ(did.not_captured, nullptr);
}

TEST_P(LaneOfGraphs, ComputesTheSameWithGraphsAndWithout) {
  constexpr std::size_t count = 160;
  for (Graphs const graphs : {Graphs::never, Graphs::automatic, Graphs::always}) {
    SCOPED_TRACE(static_cast<int>(graphs));
    std::size_t const before = seen().size();
    open_lane(add_one_in_halves(), with(graphs, 3));
    for (std::size_t i = 0; i < count; ++i) submit(i, i % 7 == 5 || i + 1 == count ? tile_bytes / 8 : tile_bytes);
    lane().close();
    expect_all_done(seen(), count, before);
    EXPECT_EQ(lane().summary().not_captured, nullptr);
    if (graphs == Graphs::never) {
      EXPECT_EQ(lane().summary().graphs, 0u);
    }
  }
}

TEST_P(LaneOfGraphsAndCopies, CapturesAStageOnceForEachSlot) {
  EXPECT_EQ(run(add_one_in_halves(), 20, with(Graphs::always, 4)).graphs, 20u);
  EXPECT_EQ(runs, 4u);
}

TEST_P(LaneOfGraphsAndCopies, CapturesNoStageThatDoesNotPromise) {
  auto const did = run(add_one([this](DeviceTile const&, StreamRef) { ++runs; }), 20, with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  EXPECT_EQ(runs, 20u);
}

TEST_P(LaneOfGraphsAndCopies, TriesGraphsOnceItHasRunForAWhile) {
  auto const did = run(add_one_in_halves(), GraphChoice::warm_up + GraphChoice::samples, with(Graphs::automatic));
  EXPECT_EQ(did.graphs, 0u);
  auto const more = run(add_one_in_halves(), GraphChoice::warm_up + 2 * GraphChoice::samples, with(Graphs::automatic));
  EXPECT_EQ(more.graphs, GraphChoice::samples);
}

TEST_P(LaneOfGraphsAndCopies, KeepsGraphsWhereRunsTakeLonger) {
  using Clock = std::chrono::steady_clock;
  constexpr unsigned slots = 2 * GraphChoice::on_trial;
  constexpr unsigned runs_first = GraphChoice::warm_up + GraphChoice::samples;
  // Each slot that is on trial makes its graph once, and then launches it so often until it has decided.
  constexpr unsigned laps = GraphChoice::samples / GraphChoice::on_trial + 1;
  auto const did = run(add_one_in_halves([](DeviceTile const&, StreamRef) {
                         for (auto const end = Clock::now() + std::chrono::microseconds(500); Clock::now() < end;) {
                         }
                       }),
                       runs_first + (laps + 1) * slots, with(Graphs::automatic, slots));
  constexpr unsigned not_on_trial = (slots - GraphChoice::on_trial) * (laps - 1);
  EXPECT_EQ(did.graphs, (laps + 1) * slots - not_on_trial);
  EXPECT_EQ(runs, runs_first + not_on_trial + slots) << "each slot has a graph in the end";
}

TEST_P(LaneOfGraphsAndCopies, LaunchesTheTilesOfABatchOneByOne) {
  auto options = with(Graphs::always, 8);
  options.batch = 4;
  open_lane(add_one_in_halves(), options);
  for (std::size_t i = 0; i < 40; ++i) submit(i);
  lane().close();
  // They come block by block, and not in the order in which they went.
  auto all = seen();
  std::ranges::sort(all, {}, &Seen::sequence);
  expect_all_done(all, 40);
  EXPECT_EQ(lane().summary().graphs, 40u);
}

TEST_P(LaneOfGraphsAndCopies, RunsTheStageForATileOfAnotherSize) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  for (std::size_t i = 0; i < 20; ++i) submit(i, i % 2 == 1 ? tile_bytes / 2 : tile_bytes);
  lane().close();
  expect_all_done(seen(), 20);
  EXPECT_EQ(lane().summary().graphs, 10u);
  EXPECT_EQ(runs, 11u) << "one capture, and those of the other size";
}

/// Seen to fail if a slot's graph is kept by the size of its tile alone.
TEST_P(LaneOfGraphsAndCopies, RunsTheStageForATileOfAnotherVariant) {
  struct Varied final : Stage {
    explicit Varied(LaneOfGraphsAndCopies& test) : world(test) {}
    Promises promises() const noexcept override { return {.capturable = true}; }
    std::uint64_t variant(DeviceTile const& tile) const override { return tile.sequence % 2; }
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      ++world.runs;
      world.enqueue(tile, stream);
      return tile.input.size();
    }
    LaneOfGraphsAndCopies& world;
  };
  auto const did = run({.make = [this](StageContext const&) { return std::make_unique<Varied>(*this); }, .merge = {}},
                       20, with(Graphs::always, 1));
  EXPECT_EQ(did.graphs, 10u);
  EXPECT_EQ(runs, 11u) << "one capture, and those of the other variant";
}

TEST_P(LaneOfGraphsAndCopies, CapturesASlotAnewOnceItsTilesKeepToAnotherSize) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  for (std::size_t i = 0; i < 10; ++i) submit(i, i == 0 ? tile_bytes / 2 : tile_bytes);
  lane().close();
  expect_all_done(seen(), 10);
  EXPECT_EQ(lane().summary().graphs, 10 - (GraphCapture::worth_another - 1));
  EXPECT_EQ(runs, 1 + GraphCapture::worth_another);
}

/// Seen to fail if it waits for as many tiles each time.
TEST_P(LaneOfGraphsAndCopies, CapturesASlotAnewLessOftenEachTime) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  constexpr std::size_t again = GraphCapture::worth_another, count = 1 + again + 2 * again;
  for (std::size_t i = 0; i < count; ++i) submit(i, i > 0 && i <= again ? tile_bytes : tile_bytes / 2);
  lane().close();
  expect_all_done(seen(), count);
  EXPECT_EQ(lane().summary().graphs, 3u) << "of the first tile, and of the last of each other size";
}

TEST_P(LaneOfGraphsAndCopies, KeepsItsGraphWhileOtherSizesComeInTurns) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  for (std::size_t i = 0; i < 11; ++i) submit(i, i == 0 || i == 10 ? tile_bytes : tile_bytes / (i % 2 == 0 ? 2 : 4));
  lane().close();
  expect_all_done(seen(), 11);
  EXPECT_EQ(lane().summary().graphs, 2u) << "of the first tile and of the last";
}

TEST_P(LaneOfGraphsAndCopies, CapturesNothingForATileWithoutInput) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  for (std::size_t i = 0; i < 10; ++i) submit(i, i % 5 == 0 ? 0 : tile_bytes);
  lane().close();
  expect_all_done(seen(), 10);
  EXPECT_EQ(lane().summary().graphs, 8u);
  EXPECT_EQ(lane().summary().not_captured, nullptr);
}

TEST_P(LaneOfGraphsAndCopies, FailsNoTileForAStageThatThrewWhileItWasCaptured) {
  auto const did = run(add_one_in_halves([this](DeviceTile const&, StreamRef) {
                         if (runs == 1) throw std::runtime_error("not now");
                       }),
                       10, with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  ASSERT_NE(did.not_captured, nullptr);
  EXPECT_EQ(did.not_captured->reason, "not now");
  EXPECT_EQ(runs, 11u) << "it was captured more than once";
}

TEST_P(LaneOfGraphsAndCopies, FailsATileWhoseStageThrowsCapturedOrNot) {
  open_lane(add_one_in_halves([](DeviceTile const& tile, StreamRef) {
              if (tile.sequence == 0) throw std::runtime_error("never");
            }),
            with(Graphs::always));
  for (std::size_t i = 0; i < 4; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].reason, "never");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(all[i].content_right) << "tile " << i << all[i].reason;
}

TEST_P(LaneOfGraphsAndCopies, SaysWhyAStageThatWaitsCannotBeCaptured) {
  auto const did = run(add_one_in_halves([](DeviceTile const&, StreamRef stream) { stream.synchronize(); }), 10,
                       with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  ASSERT_NE(did.not_captured, nullptr);
  EXPECT_NE(did.not_captured->reason, "");
  EXPECT_FALSE(device().take_refusal());
}

TEST_P(LaneOfGraphsAndCopies, SaysSoAlsoIfTheStageKeepsItToItself) {
  auto const did = run(add_one_in_halves([](DeviceTile const&, StreamRef stream) {
                         try {
                           stream.synchronize();
                         } catch (Error const&) {
                         }
                       }),
                       10, with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  EXPECT_NE(did.not_captured, nullptr);
}

TEST_P(LaneOfGraphsAndCopies, DoesTheWorkOnceOfAStageThatEnqueuesItElsewhere) {
  struct Elsewhere final : Stage {
    Elsewhere(StageContext const& context, LaneOfGraphsAndCopies& test) : stream(context.stream), world(test) {}
    Promises promises() const noexcept override { return {.capturable = true}; }
    std::size_t run(DeviceTile const& tile, StreamRef) override {
      world.enqueue(tile, stream);
      return tile.input.size();
    }
    StreamRef stream;
    LaneOfGraphsAndCopies& world;
  };
  auto const did =
      run({.make = [this](StageContext const& context) { return std::make_unique<Elsewhere>(context, *this); },
           .merge = {}},
          10, with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  ASSERT_NE(did.not_captured, nullptr);
  EXPECT_NE(did.not_captured->reason.find("nothing"), std::string::npos) << did.not_captured->reason;
}

}  // namespace
}  // namespace penstock
