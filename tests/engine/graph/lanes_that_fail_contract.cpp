// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "engine/graph/lanes_in_graph_contract.hpp"

namespace penstock {

namespace flow = oneapi::tbb::flow;
using testing::Contains;
using testing::HasSubstr;

TEST_P(LanesInGraphContract, SayInEachMessageWhichTilesFailed) {
  open(usual(), on_device([this](DeviceTile const& tile, StreamRef stream) {
         if (tile.tag % 2 == 1) throw std::runtime_error("it is odd");
         kernels().add_one(stream, tile.output);
       }));
  SeenResults seen;
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) {
                   TileResult<std::byte> const tile = message[0];
                   seen.note(tile);
                   if (tile.tag() % 2 == 0) return expect_added(tile);
                   EXPECT_EQ(tile.outcome(), Outcome::failed);
                   EXPECT_THAT(tile.problem(), HasSubstr("it is odd"));
                 }));
  flow::make_edge(lanes().output(), sink);
  for (std::uint64_t number = 0; number < 40; ++number) lanes().input().try_put(filled(number));
  wait();
  seen.expect_each_once(40);
  EXPECT_EQ(seen.of(Outcome::failed), 20U);
  Report const report = lanes().finish();
  EXPECT_EQ(report.tiles_failed, 20U) << describe(report);
  report.unread.mark_read();
}

TEST_P(LanesInGraphContract, BringTilesHomeWhenANodeOfTheProgramThrows) {
  open();
  std::atomic<bool> full{true};
  std::uint64_t taken = 0;
  BytesNode sink(graph(), 1, body([&](Bytes const&) {
                   if (full) throw std::runtime_error("the disk is full");
                   ++taken;
                 }));
  flow::make_edge(lanes().output(), sink);
  for (std::uint64_t number = 0; number < tiles; ++number) lanes().input().try_put(filled(number));
  EXPECT_THROW(wait(), std::runtime_error);
  graph().reset();
  expect_all_home();
  full = false;
  for (std::uint64_t number = 0; number < tiles; ++number) lanes().input().try_put(filled(number));
  wait();
  EXPECT_EQ(taken, tiles);
  EXPECT_TRUE(lanes().finish().ok());
}

TEST_P(LanesInGraphContract, SayHowManyTilesNoNodeTook) {
  open();
  for (std::uint64_t number = 0; number < 3; ++number) lanes().input().try_put(filled(number));
  wait();
  expect_all_home();
  EXPECT_THAT(lanes().finish().remarks,
              Contains(HasSubstr("3 tiles went home from the lanes since no node took the message")));
}

TEST_P(LanesInGraphContract, GiveWhatAStopCancels) {
  open();
  SeenResults seen;
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) { seen.note(message[0]); }));
  flow::make_edge(lanes().output(), sink);
  std::vector<Bytes> messages;
  for (std::uint64_t number = 0; number < tiles; ++number) messages.push_back(filled(number));
  lanes().stop();
  for (Bytes& message : messages) lanes().input().try_put(std::exchange(message, {}));
  wait();
  seen.expect_each_once(tiles);
  EXPECT_EQ(seen.of(Outcome::cancelled), tiles);
  Report const report = lanes().finish();
  EXPECT_EQ(report.tiles_cancelled, tiles) << describe(report);
  report.unread.mark_read();
}

TEST_P(LanesInGraphContract, CancelWhatComesAfterTheirEnd) {
  open();
  SeenResults seen;
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) { seen.note(message[0]); }));
  flow::make_edge(lanes().output(), sink);
  Bytes const late = filled(1);
  EXPECT_TRUE(lanes().finish().ok());
  lanes().input().try_put(late);
  wait();
  EXPECT_EQ(seen.of(Outcome::cancelled), 1U);
  EXPECT_FALSE(lanes().try_borrow());
  EXPECT_THROW(static_cast<void>(lanes().borrow()), Error);
  EXPECT_THROW(static_cast<void>(lanes().finish()), Error);
}

TEST_P(LanesInGraphContract, LeaveTheirMessagesBehind) {
  std::vector<Bytes> kept;
  {
    open();
    BytesNode sink(graph(), 1, body([&](Bytes const& message) { kept.push_back(message); }));
    flow::make_edge(lanes().output(), sink);
    for (std::uint64_t number = 0; number < tiles; ++number) lanes().input().try_put(filled(number));
    wait();
    flow::remove_edge(lanes().output(), sink);
    close();
  }
  ASSERT_EQ(kept.size(), tiles);
  for (Bytes const& message : kept) expect_added(message[0]);
}

TEST_P(LanesInGraphContract, KeepTheOrderOfTheirInputWhereThatIsAskedFor) {
  PipelineOptions options = usual();
  options.ordered = true;
  open(options);
  std::vector<std::uint64_t> order;
  BytesNode sink(graph(), 1, body([&](Bytes const& message) { order.push_back(message[0].tag()); }));
  flow::sequencer_node<Bytes> by_sequence(graph(), [](Bytes const& message) { return message[0].sequence(); });
  flow::make_edge(lanes().output(), by_sequence);
  flow::make_edge(by_sequence, sink);
  for (std::uint64_t number = 0; number < 100; ++number) lanes().input().try_put(filled(number));
  wait();
  EXPECT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_TRUE(lanes().finish().ok());
}

TEST_P(LanesInGraphContract, RefuseATileThatIsUnderWayOrOfOtherLanes) {
  open(usual());
  ByteLanes others(graph(), device(), usual(), add_one());
  auto const refusal = [&](Bytes const& message) -> std::string {
    lanes().input().try_put(message);
    try {
      wait();
    } catch (Error const& error) {
      graph().reset();
      return error.what();
    }
    graph().reset();
    return {};
  };
  EXPECT_THAT(refusal(others.borrow()), HasSubstr("another pipeline's"));
  Bytes twice = filled(1);
  twice.append(twice);
  EXPECT_THAT(refusal(twice), HasSubstr("on a lane already"));
  EXPECT_EQ(refusal(twice.one(0)), "") << "the refusal has no effect on a tile that is sent by itself";
  twice = {};
  expect_all_home();
}

/// Seen to hang without the check: the only node that would send a tile home waits for one.
TEST_P(LanesInGraphContract, SayThatANodeMustNotWaitForATile) {
  open();
  std::vector<Bytes> all;
  while (auto tile = lanes().try_borrow()) all.push_back(*std::move(tile));
  std::string said;
  BytesNode asks(graph(), 1, body([&](Bytes const&) {
                   try {
                     static_cast<void>(lanes().borrow());
                   } catch (Error const& error) {
                     said = error.what();
                   }
                 }));
  asks.try_put(all[0]);
  wait();
  EXPECT_THAT(said, HasSubstr("try_borrow()"));
}

/// Each piece of work takes a spare tile; nothing waits in a node. Seen to end early if a tile that comes home is not
/// lent.
TEST_P(LanesInGraphContract, LendTilesToNodesThatPairThemWithWork) {
  open();
  using Work = std::tuple<Bytes, Bytes>;
  flow::queue_node<Bytes> spare(graph());
  flow::queue_node<Bytes> work(graph());  // Messages of other lanes, here: any type will do.
  ByteLanes others(graph(), device(), usual(), add_one());
  flow::join_node<Work, flow::reserving> join(graph());
  flow::function_node<Work, Bytes> copy(graph(), flow::unlimited, body([](Work const& pair) {
                                          auto const& [piece, tile] = pair;
                                          fill(tile, 0, piece[0].tag());
                                          return tile;
                                        }));
  SeenResults seen;
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) {
                   expect_added(message[0]);
                   seen.note(message[0]);
                 }));
  flow::make_edge(others.output(), work);
  flow::make_edge(lanes().spare(), spare);
  flow::make_edge(work, flow::input_port<0>(join));
  flow::make_edge(spare, flow::input_port<1>(join));
  flow::make_edge(join, copy);
  flow::make_edge(copy, lanes().input());
  flow::make_edge(lanes().output(), sink);
  lanes().lend();
  for (std::uint64_t number = 0; number < 100; ++number) {
    Bytes const other = others.borrow();
    fill(other, 0, number);
    others.input().try_put(other);
  }
  wait();
  seen.expect_each_once(100);
  lanes().stop_lending();
  for (Bytes left; spare.try_get(left);) left = {};
  expect_all_home();
  EXPECT_TRUE(lanes().finish().ok());
  EXPECT_TRUE(others.finish().ok());
}

TEST_P(LanesInGraphContract, StopLendingWhereNoNodeTakesATile) {
  open();
  lanes().lend();
  wait();
  expect_all_home();
}

TEST_P(LanesInGraphContract, RefuseWhatDoesNotFit) {
  PipelineOptions options = usual();
  options.host_stages.push_back({.body = [](Tile&) {}});
  EXPECT_THROW(open(options), Error);
  Stages const none = on_device([](DeviceTile const&, StreamRef) {});
  EXPECT_THROW((Lanes<double>(graph(), device(), {.tile = tile_of<float>(64)}, none)), Error);
  EXPECT_THROW((Lanes<float, double>(graph(), device(), {.tile = tile_of<float>(64)}, none)), Error);
  Lanes<float> right(graph(), device(), {.tile = tile_of<float>(64)}, none);
  Tiles<float> const message = right.borrow();
  EXPECT_EQ(message.room().size(), 64U);
  EXPECT_THROW(message.set_filled(0, 65), Error);
}

}  // namespace penstock
