// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/lanes_in_graph_contract.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>

namespace penstock {

namespace flow = oneapi::tbb::flow;
using support::Gate;
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

TEST_P(LanesInGraphContract, GiveEachMessageOnceWithWhatTheStageMade) {
  open();
  SeenResults seen;
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
  SeenResults seen;
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
  SeenResults first, second;
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

}  // namespace penstock
