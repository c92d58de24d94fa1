// SPDX-License-Identifier: Apache-2.0
// Tests where a lane's stage works: on a copy of a tile on the device, or on the tile itself.
#include <mutex>
#include <set>

#include <gmock/gmock.h>

#include "engine/lane/lane_contract.hpp"
#include "engine/lane/large_tiles_contract.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneOfLargeTiles);

Stages LaneOfLargeTiles::add_one_and_note(Holding* holding) {
  return add_one([this, holding](DeviceTile const& tile, StreamRef stream) {
    EXPECT_EQ(lies_in_pool(tile.input), lies_in_pool(tile.output));
    {
      std::scoped_lock const lock(noted_mutex_);
      if (lies_in_pool(tile.input)) mapped_.insert(tile.sequence);
    }
    if (holding == nullptr) return;
    if (holding->at.contains(tile.sequence)) holding->hold.emplace(kernels().hold(stream));
    holding->came.fetch_add(1);
  });
}

namespace {

using testing::HasSubstr;
using Numbers = std::set<std::uint64_t>;

Numbers below(std::uint64_t count) {
  Numbers all;
  for (std::uint64_t i = 0; i < count; ++i) all.insert(i);
  return all;
}

TEST_P(LaneOfLargeTiles, AreMappedOneAtATimeUnlessTheyAreToBeCopied) {
  open_lane(add_one_and_note(), {.watchdog = no_honest_delay});
  constexpr std::uint64_t count = 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(i, small);
    await_seen(i + 1);
  }
  lane().close();
  expect_all_done(seen(), count);
  bool const copied = GetParam().transport == Transport::copies;
  EXPECT_EQ(mapped(), copied ? Numbers{} : below(count));
  EXPECT_EQ(lane().summary().mapped, copied ? 0 : count);
  EXPECT_EQ(lane().summary().copies, copied ? 2 * count : 0);
}

TEST_P(LaneOfLargeTiles, AreCopiedToAStageThatPromisesNothing) {
  auto const stage = on_device([this](DeviceTile const& tile, StreamRef stream) {
    EXPECT_FALSE(lies_in_pool(tile.input));
    kernels().add_one(stream, tile.input);
    return tile.input.size();
  });
  if (GetParam().transport == Transport::mapped) {
    try {
      open_lane(stage);
      FAIL() << "what was asked for cannot be had";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_THAT(error.what(), HasSubstr("Promises::reads_once"));
    }
    return;
  }
  open_lane(stage);
  for (std::uint64_t i = 0; i < 20; ++i) submit(i, small);
  lane().close();
  expect_all_done(seen(), 20);
  EXPECT_EQ(lane().summary().mapped, 0u);
}

/// Seen to fail without the bound on the bytes of mapped tiles in flight, and with calls asked of the wrong stream.
TEST_P(LaneOfLargeTiles, AreCopiedOnceTheDeviceHasMuchToDoAndMappedAgainOnceItHasNothing) {
  constexpr std::uint64_t rounds = 20, each = 8;
  Holding held{.at = {}};
  for (std::uint64_t round = 0; round < rounds; ++round) held.at.insert(round * each);
  open_lane(add_one_and_note(&held), {.flight = {.slots = each}, .watchdog = no_honest_delay});
  Numbers expected;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::uint64_t const first = round * each;
    for (std::uint64_t i = first; i < first + each; ++i) submit(i, third);
    held.await_came(first + each);
    held.hold->open();
    await_seen(first + each);
    // A fourth would be too much.
    if (GetParam().transport == Transport::automatic) expected.insert({first, first + 1, first + 2});
  }
  lane().close();
  expect_all_done(seen(), rounds * each);
  if (GetParam().transport == Transport::mapped) expected = below(rounds * each);
  EXPECT_EQ(mapped(), expected);
  if (GetParam().signal != SignalKind::event_poll) {
    EXPECT_EQ(lane().summary().found.by_watchdog, 0u) << "no watchdog was needed";
  }
}

/// Seen to fail if a tile that is alone has no other bound than those that are not.
TEST_P(LaneOfLargeTiles, AreMappedAsLongAsEachIsAlone) {
  open_lane(add_one_and_note(), {.spin = std::chrono::microseconds(200), .watchdog = no_honest_delay});
  constexpr std::uint64_t count = 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(i);
    await_seen(i + 1);
  }
  lane().close();
  expect_all_done(seen(), count);
  EXPECT_EQ(mapped(), GetParam().transport == Transport::copies ? Numbers{} : below(count));
}

/// It would land before that one. Seen to fail, and others with it, if only the bytes of mapped tiles count.
TEST_P(LaneOfLargeTiles, AreNotMappedBehindOneThatIsCopied) {
  Holding held;
  open_lane(add_one_and_note(&held), {.flight = {.slots = 4}});
  submit(0, small);
  submit(1);  // Too large for one that is not alone.
  submit(2, small);
  submit(3, small);
  held.await_came(4);
  held.hold->open();
  await_seen(4);
  submit(4, small);
  lane().close();
  expect_all_done(seen(), 5);
  Numbers const expected = GetParam().transport == Transport::copies      ? Numbers{}
                           : GetParam().transport == Transport::automatic ? Numbers{0, 4}
                                                                          : below(5);
  EXPECT_EQ(mapped(), expected);
}

TEST_P(LaneOfLargeTiles, RetireInOrderWithTheirOwnContentHoweverLargeEachIs) {
  open_lane(add_one_and_note(), {.flight = {.slots = 4}});
  constexpr std::uint64_t count = 400;
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(i, i % 3 == 0 ? tile_bytes : small);
    // Now and then there is nothing to do.
    if (i % 7 == 0) await_seen(i + 1);
  }
  lane().close();
  expect_all_done(seen(), count);
}

}  // namespace
}  // namespace penstock
