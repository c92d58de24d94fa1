// SPDX-License-Identifier: Apache-2.0
#include "graph/lanes_in_graph_contract.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>

namespace penstock {

namespace flow = oneapi::tbb::flow;
using support::Gate;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

void LanesInGraphContract::SetUp() {
  device_ = GetParam().make();
  if (!device_) GTEST_SKIP() << "there is no such device here";
}

void LanesInGraphContract::TearDown() {
  lanes_.reset();
  if (device_ && GetParam().expect_nothing_lent) GetParam().expect_nothing_lent(*device_);
}

Stages LanesInGraphContract::add_one() {
  return on_device([this](DeviceTile const& tile, StreamRef stream) { kernels().add_one(stream, tile.output); });
}

LanesInGraphContract::ByteLanes& LanesInGraphContract::open(PipelineOptions options, std::optional<Stages> stages) {
  lanes_ = std::make_unique<ByteLanes>(graph_, *device_, std::move(options), stages ? *stages : add_one());
  return *lanes_;
}

void LanesInGraphContract::fill(Bytes const& message, std::size_t which, std::uint64_t number) {
  std::ranges::fill(message.room(which), static_cast<std::byte>(number));
  message.set_filled(which, tile_bytes);
  message.set_tag(which, number);
}

LanesInGraphContract::Bytes LanesInGraphContract::filled(std::uint64_t number) {
  Bytes message = lanes().borrow();
  fill(message, 0, number);
  return message;
}

void LanesInGraphContract::expect_added(TileResult<std::byte> const& tile) {
  ASSERT_TRUE(tile.ok()) << tile.problem();
  ASSERT_EQ(tile.output().size(), tile_bytes);
  auto const right = static_cast<std::byte>(tile.tag() + 1);
  EXPECT_TRUE(std::ranges::all_of(tile.output(), [&](std::byte byte) { return byte == right; })) << tile.tag();
}

void LanesInGraphContract::expect_all_home() {
  std::vector<Bytes> all;
  while (auto tile = lanes().try_borrow()) all.push_back(*std::move(tile));
  EXPECT_EQ(all.size(), tiles);
}

namespace {

/// The results that came to a node, which any threads may note.
class Seen {
 public:
  void note(TileResult<std::byte> const& tile) {
    std::lock_guard const lock(mutex_);
    ++times_[tile.tag()];
    outcomes_[tile.outcome()]++;
  }
  void expect_each_once(std::uint64_t count) const {
    std::lock_guard const lock(mutex_);
    EXPECT_EQ(times_.size(), count);
    for (auto const& [tag, times] : times_) EXPECT_EQ(times, 1U) << tag;
  }
  std::uint64_t of(Outcome outcome) const {
    std::lock_guard const lock(mutex_);
    auto const found = outcomes_.find(outcome);
    return found == outcomes_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, unsigned> times_;
  std::map<Outcome, std::uint64_t> outcomes_;
};

using Bytes = Tiles<std::byte>;
using BytesNode = flow::function_node<Bytes>;

}  // namespace

TEST_P(LanesInGraphContract, GiveEachMessageOnceWithWhatTheStageMade) {
  open();
  Seen seen;
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) {
                   ASSERT_EQ(message.size(), 1U);
                   expect_added(message[0]);
                   seen.note(message[0]);
                 }));
  flow::make_edge(lanes().output(), sink);
  constexpr std::uint64_t count = 200;
  for (std::uint64_t number = 0; number < count; ++number) lanes().input().try_put(filled(number));
  wait();
  seen.expect_each_once(count);
  expect_all_home();
  Report const report = lanes().finish();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.tiles_done, count);
  EXPECT_THAT(report.remarks, Each(Not(HasSubstr("no node took"))));
}

TEST_P(LanesInGraphContract, KeepTheTilesOfAMessageTogether) {
  open();
  std::uint64_t messages = 0, empty = 0;
  Seen seen;
  BytesNode sink(graph(), 1, body([&](Bytes const& message) {
                   if (message.empty()) return static_cast<void>(++empty);
                   ASSERT_EQ(message.size(), 4U);
                   for (std::size_t which = 0; which < 4; ++which) {
                     EXPECT_EQ(message[which].tag(), message[0].tag() + which)
                         << "in the order in which they were added";
                     expect_added(message[which]);
                     seen.note(message[which]);
                   }
                   ++messages;
                 }));
  flow::make_edge(lanes().output(), sink);
  for (std::uint64_t group = 0; group < 20; ++group) {
    Bytes message;
    for (std::uint64_t which = 0; which < 4; ++which) message.append(filled(4 * group + which));
    lanes().input().try_put(message);
  }
  lanes().input().try_put(Bytes());  // A message without tiles has nothing to wait for.
  wait();
  EXPECT_EQ(messages, 20U);
  EXPECT_EQ(empty, 1U);
  seen.expect_each_once(80);
  EXPECT_THROW(static_cast<void>(Bytes()[0]), Error);
  EXPECT_TRUE(lanes().finish().ok());
}

TEST_P(LanesInGraphContract, AreFedAndFollowedByNodesOfTheProgram) {
  open();
  flow::function_node<Bytes, Bytes> decode(graph(), flow::unlimited, body([](Bytes const& message) {
                                             std::ranges::fill(message.room(),
                                                               static_cast<std::byte>(message[0].tag()));
                                             message.set_filled(0, tile_bytes);
                                             return message;
                                           }));
  flow::function_node<Bytes, Bytes> odd(
      graph(), flow::unlimited, body([](Bytes const& message) {
        return drop_if(message, [](TileResult<std::byte> const& tile) { return tile.tag() % 2 == 0; });
      }));
  Seen first, second;
  BytesNode index(graph(), 1, body([&](Bytes const& message) {
                    if (!message.empty()) first.note(message[0]);
                  }));
  BytesNode archive(graph(), flow::unlimited, body([&](Bytes const& message) {
                      if (message.empty()) return;
                      expect_added(message[0]);
                      second.note(message[0]);
                    }));
  flow::make_edge(decode, odd);
  flow::make_edge(odd, lanes().input());
  flow::make_edge(lanes().output(), index);
  flow::make_edge(lanes().output(), archive);
  for (std::uint64_t number = 0; number < 100; ++number) {
    Bytes const message = lanes().borrow();
    message.set_tag(0, number);
    decode.try_put(message);
  }
  wait();
  first.expect_each_once(50);
  second.expect_each_once(50);
  expect_all_home();
  EXPECT_EQ(lanes().finish().tiles_done, 50U);
}

/// Seen to fail if a message that came back brings its tiles home.
TEST_P(LanesInGraphContract, HaveATileOutUntilTheLastMessageWithItIsGone) {
  open();
  Gate at_it;
  std::optional<Bytes> kept;
  BytesNode quick(graph(), 1, body([&](Bytes const& message) { kept = message; }));
  BytesNode slow(graph(), 1, body([&](Bytes const& message) {
                   at_it.pass();
                   expect_added(message[0]);
                 }));
  flow::make_edge(lanes().output(), quick);
  flow::make_edge(lanes().output(), slow);
  lanes().input().try_put(filled(3));
  at_it.await_reached();
  {
    std::vector<Bytes> others;
    while (auto tile = lanes().try_borrow()) others.push_back(*std::move(tile));
    EXPECT_EQ(others.size(), tiles - 1);
  }
  at_it.open();
  wait();
  ASSERT_TRUE(kept);
  expect_added((*kept)[0]);
  kept.reset();
  expect_all_home();
}

TEST_P(LanesInGraphContract, LetANodeBesideThemReadWhatTheyCompute) {
  open({.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes}, .lanes = 2, .tuning = {.tiles = tiles}},
       on_device(
           [this](DeviceTile const& tile, StreamRef stream) { kernels().fill(stream, tile.output, std::byte{7}); }));
  std::atomic<std::uint64_t> read{0}, computed{0};
  flow::broadcast_node<Bytes> both(graph());
  BytesNode audit(graph(), flow::unlimited, body([&](Bytes const& message) {
                    auto const right = static_cast<std::byte>(message[0].tag());
                    auto const input = message[0].input();
                    if (input.size() == tile_bytes && std::ranges::count(input, right) == std::ptrdiff_t{tile_bytes})
                      ++read;
                  }));
  BytesNode sink(graph(), flow::unlimited, body([&](Bytes const& message) {
                   if (std::ranges::count(message[0].output(), std::byte{7}) == std::ptrdiff_t{tile_bytes}) ++computed;
                 }));
  flow::make_edge(both, audit);
  flow::make_edge(both, lanes().input());
  flow::make_edge(lanes().output(), sink);
  for (std::uint64_t number = 0; number < 100; ++number) both.try_put(filled(number));
  wait();
  EXPECT_EQ(read.load(), 100U);
  EXPECT_EQ(computed.load(), 100U);
  expect_all_home();
}

TEST_P(LanesInGraphContract, JoinWhatOtherLanesMadeOfTheSameWork) {
  open();
  ByteLanes others(graph(), device(), usual(), add_one());
  using Pair = std::tuple<Bytes, Bytes>;
  auto const tag = [](Bytes const& message) { return message[0].tag(); };
  flow::join_node<Pair, flow::key_matching<std::uint64_t>> join(graph(), tag, tag);
  std::atomic<std::uint64_t> joined{0};
  flow::function_node<Pair> sum(graph(), flow::unlimited, body([&](Pair const& pair) {
                                  auto const& [left, right] = pair;
                                  expect_added(left[0]);
                                  expect_added(right[0]);
                                  if (left[0].tag() == right[0].tag()) ++joined;
                                }));
  flow::make_edge(lanes().output(), flow::input_port<0>(join));
  flow::make_edge(others.output(), flow::input_port<1>(join));
  flow::make_edge(join, sum);
  for (std::uint64_t number = 0; number < 64; ++number) {
    lanes().input().try_put(filled(number));
    Bytes const other = others.borrow();
    fill(other, 0, number);
    others.input().try_put(other);
  }
  wait();
  EXPECT_EQ(joined.load(), 64U);
  expect_all_home();
  EXPECT_TRUE(others.finish().ok());
}

TEST_P(LanesInGraphContract, SayInEachMessageWhichTilesFailed) {
  open(usual(), on_device([this](DeviceTile const& tile, StreamRef stream) {
         if (tile.tag % 2 == 1) throw std::runtime_error("it is odd");
         kernels().add_one(stream, tile.output);
       }));
  Seen seen;
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
  Seen seen;
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
  Seen seen;
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
  Seen seen;
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
