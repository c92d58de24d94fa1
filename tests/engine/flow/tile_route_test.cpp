// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/tile_route.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/host_time.hpp"
#include "engine/core/pool.hpp"
#include "engine/flow/lanes_by_hand.hpp"
#include "penstock/clock.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Four tiles, and a route without threads of its own: the test's thread is the consumer. Every test must leave with
/// all tiles home.
struct ARoute : testing::Test {
  static constexpr std::size_t tiles = 4;
  static constexpr TileShape shape{.input_bytes = 256};

  TileRoute& open(TileRoute::Options const& options) {
    route.emplace(
        options, pool, records,
        [this](Completion& completion) {
          sequences.push_back(completion.loan->sequence);
          outcomes_seen.push_back(completion.outcome);
          ++delivered;
          delivered.notify_all();
        },
        outcomes, enough);
    route->lead_to(lanes);
    return *route;
  }
  Loan tile(std::uint64_t sequence) {
    Loan loan = pool.borrow();
    loan->sequence = sequence;
    return loan;
  }
  void complete(std::size_t which) {
    route->way_back(0).take(Completion::done(std::move(lanes.kept.at(which))), false);
  }
  static std::shared_ptr<Failure const> failure() {
    return std::make_shared<Failure const>(Failure{"source", "for the test", ErrorKind::system});
  }
  void TearDown() override {
    lanes.kept.clear();
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
  }

  alignas(256) std::array<std::byte, tiles * 256> slab{};
  Pool pool{slab, shape, tiles};
  std::array<TileRecord, tiles> records{};
  RunOutcomes outcomes;
  std::stop_source enough;
  test::LanesByHand lanes;
  std::vector<std::uint64_t> sequences;
  std::vector<Outcome> outcomes_seen;
  std::atomic<std::size_t> delivered{0};
  std::optional<TileRoute> route;
};

/// Seen to hang where WayBack forgets what came before, and where a station keeps only the oldest of a message.
TEST_F(ARoute, KeepsTheOrderOfTilesThatALaneGivesOneAfterTheOther) {
  TileRoute& by = open({});
  for (std::uint64_t sequence = 0; sequence < tiles; ++sequence) by.send(tile(sequence), nullptr);
  for (std::size_t which = 0; which < tiles; ++which) {
    by.way_back(0).take(Completion::done(std::move(lanes.kept[which])), which != 2 && which != 3);
  }
  by.graph().wait();
  EXPECT_THAT(sequences, ElementsAre(0, 1, 2, 3));
}

/// Seen to hang where the first waits for others, and where the second waits for more than one.
TEST_F(ARoute, DeliversTheFirstOfTilesThatComeTogetherAtOnceAndThenTwo) {
  TileRoute& by = open({});
  for (std::uint64_t sequence = 0; sequence < tiles; ++sequence) by.send(tile(sequence), nullptr);
  auto const take = [&](std::size_t which, bool more) {
    by.way_back(0).take(Completion::done(std::move(lanes.kept[which])), more);
  };
  std::jthread const consumer([&] { by.graph().wait(); });
  take(0, true);
  delivered.wait(0);
  take(1, true);
  EXPECT_EQ(delivered, 1U) << "the second waits for the third";
  take(2, true);
  for (std::size_t seen = 1; seen < 3; seen = delivered) delivered.wait(seen);
  take(3, false);
}

/// The first of two that a consumer takes together waits for the second, so no call of the sink comes before that
/// one's.
///
/// Seen to fail if the call for the second counts as one that follows another: it then began with the clock.
TEST_F(ARoute, CountsNoTimeBeforeTheFirstCallOfTheSinkAsTheSinks) {
  auto const began = Clock::now();
  TileRoute& by = open({.ordered = true});
  by.send(tile(0), nullptr);
  by.send(tile(1), nullptr);
  complete(1);
  complete(0);
  by.graph().wait();
  EXPECT_THAT(sequences, ElementsAre(0, 1));
  Report report;
  outcomes.write_to(report, {});
  EXPECT_LE(report.sink, Clock::now() - began);
}

/// Seen to fail if TileRoute::to_lane gives failed tiles to a lane, and if to_sink passes the order by.
TEST_F(ARoute, KeepsThePlaceOfATileThatFailedBeforeTheLanes) {
  TileRoute& by = open({.ordered = true});
  by.send(tile(0), nullptr);
  by.send(tile(1), failure());
  by.send(tile(2), nullptr);
  ASSERT_EQ(lanes.kept.size(), 2U) << "no lane gets the one that failed";
  complete(1);
  complete(0);
  by.graph().wait();
  EXPECT_THAT(sequences, ElementsAre(0, 1, 2));
  EXPECT_THAT(outcomes_seen, ElementsAre(Outcome::done, Outcome::failed, Outcome::done));
}

/// Seen to fail if tiles are given to the lanes as they come.
TEST_F(ARoute, GivesTheLanesTilesInTheirSequenceWithTheirKeysIfAsked) {
  TileRoute& by = open({.stage_order = {.in_sequence = true, .key = [](Tile const& one) { return one.sequence + 10; }},
                        .sink_at_once = true});
  by.send(tile(2), nullptr);
  by.send(tile(1), failure());
  EXPECT_THAT(lanes.kept, IsEmpty()) << "tile 0 has not come";
  EXPECT_THAT(sequences, IsEmpty()) << "a tile that failed keeps its place";
  by.send(tile(0), nullptr);
  EXPECT_THAT(lanes.keys, ElementsAre(10, 12));
  EXPECT_THAT(sequences, ElementsAre(1));
  complete(1);
  complete(0);
  by.graph().wait();
}

TEST_F(ARoute, DeliversOnTheThreadThatCompletesIfAsked) {
  TileRoute& by = open({.sink_at_once = true});
  by.send(tile(0), nullptr);
  EXPECT_THAT(sequences, IsEmpty());
  complete(0);
  EXPECT_THAT(sequences, ElementsAre(0)) << "no consumer was there";
  by.graph().wait();
}

/// Seen to hang if the tile is not cancelled, in either case.
TEST_F(ARoute, CancelsATileThatNoLaneTakesInItsTurnOrWithoutOne) {
  lanes.open = false;
  for (bool const in_sequence : {false, true}) {
    TileRoute& by = open({.stage_order = {.in_sequence = in_sequence}});
    by.send(tile(0), nullptr);
    by.graph().wait();
  }
  EXPECT_THAT(outcomes_seen, ElementsAre(Outcome::cancelled, Outcome::cancelled));
  Report report;
  outcomes.write_to(report, {});
  EXPECT_EQ(report.tiles_cancelled, 2U);
}

/// Seen to fail if TileRoute::work_on_host does not look for a failure first.
TEST_F(ARoute, TakesATileThatFailedPastTheOtherHostStages) {
  std::vector<std::string> called;
  TileRoute& by = open({.host_stages = {{.name = "first",
                                         .body =
                                             [&](Tile&) {
                                               called.emplace_back("first");
                                               throw Error(ErrorKind::bad_argument, "for the test");
                                             }},
                                        {.name = "second", .body = [&](Tile&) { called.emplace_back("second"); }}}});
  by.send(tile(7), nullptr);
  by.graph().wait();
  EXPECT_THAT(called, ElementsAre("first"));
  EXPECT_THAT(lanes.kept, IsEmpty());
  Report report;
  outcomes.write_to(report, {});
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "first");
  EXPECT_EQ(report.first_failure->sequence, 7U);
}

TEST_F(ARoute, CallsAHostStageWithoutANameByItsNumber) {
  TileRoute& by = open({.host_stages = {{.body = [](Tile&) {}}, {.body = [](Tile& full) { full.filled = 1 << 20; }}}});
  by.send(tile(0), nullptr);
  by.graph().wait();
  Report report;
  outcomes.write_to(report, {});
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "host stage 2");
  EXPECT_TRUE(report.first_failure->failure.reason.starts_with("Host stage 2 says"))
      << report.first_failure->failure.reason;
}

/// Seen to fail if TileRoute::WayBack::take does not ask whether a lane is left.
TEST_F(ARoute, AsksForNoMoreInputOnceNoLaneIsLeft) {
  TileRoute& by = open({});
  by.send(tile(0), nullptr);
  by.send(tile(1), nullptr);
  by.way_back(0).take(Completion::failed(std::move(lanes.kept[0]), failure()), false);
  EXPECT_FALSE(enough.stop_requested()) << "another lane may be left";
  lanes.all_lost = true;
  by.way_back(0).take(Completion::failed(std::move(lanes.kept[1]), failure()), false);
  EXPECT_TRUE(enough.stop_requested());
  by.graph().wait();
}

/// The sink keeps the tiles that are not stranded, so no lane gets one that could fail. Seen to fail if
/// TileRoute::end_if_no_lane_is_left asks only of tiles, or WayBack::lost does not ask.
TEST_F(ARoute, AsksForNoMoreInputOnceTheLastLaneIsLostWithoutATile) {
  TileRoute& by = open({});
  by.way_back(0).lost();
  EXPECT_FALSE(enough.stop_requested());
  lanes.all_lost = true;
  by.way_back(0).lost();
  EXPECT_TRUE(enough.stop_requested());
}

TEST(RunOutcomes, AreNoneBeforeTheFirstTile) {
  Report report;
  RunOutcomes().write_to(report, {});
  EXPECT_EQ(report.tiles() + report.sink_failures, 0U);
  EXPECT_EQ(report.sink.count(), 0);
}

/// Notes for which thread's work it is asked.
struct NotingKeeper final : HostKeeper {
  void pay() noexcept override { noted += 'p'; }
  void forget() noexcept override { noted += 'f'; }
  void end_call(std::chrono::nanoseconds) noexcept override {}
  void nap() noexcept override {}
  std::chrono::nanoseconds cpu_time() noexcept override { return {}; }
  double take_lost_part() noexcept override { return 0; }
  static inline thread_local std::string noted = {};
};

/// Exits with 0 if the work of a host stage is paid for, and what its thread did before is not.
[[noreturn]] void work_on_a_slower_clock() {
  static NotingKeeper keeper;
  HostTime::keep_by(keeper);
  Clock::slow_down(2);
  alignas(256) std::array<std::byte, 256> slab{};
  Pool pool(slab, {.input_bytes = 256}, 1);
  std::array<TileRecord, 1> records;
  RunOutcomes outcomes;
  test::LanesByHand lanes;
  std::string during;
  TileRoute route({.host_stages = {{.body =
                                        [&](Tile&) {
                                          during = NotingKeeper::noted;
                                          NotingKeeper::noted = "w";
                                        }}}},
                  pool, records, [](Completion&) {}, outcomes, {});
  route.lead_to(lanes);
  lanes.open = false;
  route.send(pool.borrow(), nullptr);
  route.graph().wait();
  std::_Exit(during.ends_with('f') && NotingKeeper::noted.starts_with("wp") ? 0 : 1);
}

/// In a process of its own, which has one clock for good.
TEST(AHostStageOnASlowerClock, PaysForItsWorkAndForNothingBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(work_on_a_slower_clock(), testing::ExitedWithCode(0), "");
}

TEST_F(ARoute, CountsWhatTheSinkThrows) {
  route.emplace(
      TileRoute::Options{}, pool, records, [](Completion&) { throw Error(ErrorKind::bad_argument, "for the test"); },
      outcomes, enough);
  route->lead_to(lanes);
  route->send(tile(0), nullptr);
  complete(0);
  route->graph().wait();
  Report report;
  outcomes.write_to(report, {});
  EXPECT_EQ(report.sink_failures, 1U);
  ASSERT_TRUE(report.first_sink_failure);
  EXPECT_EQ(report.first_sink_failure->failure.stage, "sink");
}

}  // namespace
}  // namespace penstock
