// SPDX-License-Identifier: Apache-2.0
// Promises of `run`.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "engine/core/pool.hpp"
#include "engine/flow/pipeline_contract.hpp"
#include "engine/machine/topology.hpp"

namespace penstock {
namespace {

TEST_P(PipelineContract, PullsAllOfTheSourceThroughAndCountsIt) {
  open();
  CountingSource source(500);
  Report const report = pipeline().run(source, add_one(), note());
  expect_each_once(500);
  for (Sunk const& tile : sunk()) EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.tiles_done, 500u);
  EXPECT_EQ(report.bytes_in, 500 * tile_bytes);
  EXPECT_EQ(report.bytes_out, 500 * tile_bytes);
  EXPECT_GT(report.wall.count(), 0);
  ASSERT_EQ(report.lanes.size(), 2u);
  EXPECT_EQ(report.lanes[0].tiles + report.lanes[1].tiles, 500u);
  EXPECT_GT(report.lanes[0].tiles * report.lanes[1].tiles, 0u) << "both lanes work";
}

TEST_P(PipelineContract, PullsAFunctionUntilItHasNothing) {
  open();
  int left = 10;
  Report const report = pipeline().run(serial([&](Tile& tile) -> std::optional<std::size_t> {
                                         if (left-- == 0) return std::nullopt;
                                         tile.input()[0] = static_cast<std::byte>(tile.sequence);
                                         return 1;
                                       }),
                                       add_one(), note());
  expect_each_once(10);
  EXPECT_EQ(report.bytes_in, 10u);
  for (Sunk const& tile : sunk()) EXPECT_TRUE(tile.content_right);
}

TEST_P(PipelineContract, EndsAtOnceWithNoInput) {
  open();
  CountingSource source(0);
  Report const report = pipeline().run(source, add_one(), note());
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.tiles(), 0u);
}

TEST_P(PipelineContract, KeepsTheSourcesOrderWithFailedTilesInTheirPlaces) {
  auto options = usual();
  options.ordered = true;
  open(options);
  CountingSource source(300);
  Report const report = pipeline().run(source, add_one([](DeviceTile const& tile, StreamRef) {
                                         if (tile.sequence % 7 == 3) throw std::runtime_error("no threes");
                                       }),
                                       note());
  auto const all = sunk();
  ASSERT_EQ(all.size(), 300u);
  for (std::uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, i % 7 == 3 ? Outcome::failed : Outcome::done);
  }
  EXPECT_EQ(report.tiles_failed, 43u);
  EXPECT_EQ(report.tiles_done, 257u);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->sequence, 3u);
  EXPECT_EQ(report.first_failure->failure.stage, "stage");
  EXPECT_EQ(report.first_failure->failure.reason, "no threes");
}

TEST_P(PipelineContract, CallsASerialSinkOneAtATimeAndAParallelOneAtOnce) {
  for (bool const parallel : {false, true}) {
    SCOPED_TRACE(parallel);
    auto options = usual();
    options.parallel_sink = parallel;
    options.consumers = 4;  // Some machines have fewer CPUs.
    Pipeline pipe(device(), options);
    CountingSource source(200);
    std::atomic<int> inside{0}, most{0};
    std::atomic<bool> met{false};
    Report const report = pipe.run(source, add_one(), [&](Completion& completion) {
      int const now = inside.fetch_add(1) + 1;
      int seen = most.load();
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      // The first four parallel calls wait for each other, which proves that they are in at once.
      if (parallel && completion.loan->sequence < 4) {
        if (now >= 4) met = true;
        while (!met) std::this_thread::yield();
      }
      inside.fetch_sub(1);
    });
    EXPECT_TRUE(report.remarks.empty() || report.remarks.front().find("oneTBB") == std::string::npos);
    if (parallel) {
      EXPECT_EQ(most, 4);
    } else {
      EXPECT_EQ(most, 1);
    }
  }
}

TEST_P(PipelineContract, SendsTilesThroughTheHostStagesInTheirOrder) {
  auto options = usual();
  options.host_stages = {
      {.name = "double",
       .body = [](Tile& tile) { tile.input()[0] = static_cast<std::byte>(2 * static_cast<int>(tile.input()[0])); }},
      {.name = "refuse",
       .body =
           [](Tile& tile) {
             if (tile.sequence == 5) throw std::runtime_error("no fives");
             tile.filled = 1;
           },
       .at_once = 1}};
  options.ordered = true;
  open(options);
  std::vector<std::byte> firsts;
  CountingSource source(20);
  Report const report = pipeline().run(
      source, add_one(), note([&](Completion& completion) { firsts.push_back(completion.loan->input()[0]); }));
  auto const all = sunk();
  ASSERT_EQ(all.size(), 20u);
  EXPECT_EQ(all[5].outcome, Outcome::failed);
  EXPECT_EQ(all[5].stage, "refuse");
  EXPECT_EQ(report.tiles_done, 19u);
  EXPECT_EQ(report.bytes_in, 19u) << "the second stage says that one byte counts";
  for (std::size_t i = 0; i < 20; ++i) {
    if (i != 5) {
      EXPECT_EQ(firsts[i], static_cast<std::byte>(2 * i + 1)) << "doubled, then one added";
    }
  }
}

TEST_P(PipelineContract, LetsASinkKeepItsTileForLater) {
  open();
  CountingSource source(100);
  std::vector<Loan> kept;
  Report const report = pipeline().run(source, add_one(), note([&](Completion& completion) {
                                         if (kept.size() < 7) kept.push_back(std::move(completion.loan));
                                       }));
  EXPECT_TRUE(report.ok()) << describe(report);
  expect_each_once(100);
  EXPECT_EQ(pipeline().pool().on_loan(), 7u);
  kept.clear();
}

TEST_P(PipelineContract, WorksWithASingleTile) {
  auto options = usual();
  options.tuning.tiles = 1;
  options.ordered = true;
  open(options);
  CountingSource source(50);
  EXPECT_TRUE(pipeline().run(source, add_one(), note()).ok());
  expect_each_once(50);
}

TEST_P(PipelineContract, RunsAgainAfterItRan) {
  open();
  for (int round = 0; round < 3; ++round) {
    CountingSource source(40);
    EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 40u);
  }
  EXPECT_EQ(sunk().size(), 120u);
}

/// Counts its own tiles.
struct CountingStage final : Stage {
  explicit CountingStage(StageContext const&) {}
  std::size_t run(DeviceTile const&, StreamRef) override {
    ++count;
    return 0;
  }
  std::uint64_t count = 0;
};

TEST_P(PipelineContract, MergesTheStagesOfAllLanes) {
  open();
  CountingSource source(200);
  std::uint64_t total = 0;
  int merged = 0;
  Report const report = pipeline().run(source, stage_per_lane<CountingStage>([&](CountingStage& stage) {
                                         total += stage.count;
                                         ++merged;
                                       }),
                                       note());
  EXPECT_EQ(total, 200u);
  EXPECT_EQ(merged, 2);
  EXPECT_EQ(report.bytes_out, 0u);
}

TEST_P(PipelineContract, TakesNothingFromAFeedWhileItPulls) {
  auto options = usual();
  options.ordered = true;
  open(options);
  Feed feed = pipeline().feed();
  int refused = 0;
  CountingSource source(20);
  Report const report = pipeline().run(source, add_one(), note([&](Completion& completion) {
                                         EXPECT_FALSE(feed.try_borrow());
                                         EXPECT_THROW(feed.borrow(), Error);
                                         try {
                                           feed.submit(std::move(completion.loan));
                                         } catch (Error const& error) {
                                           EXPECT_NE(std::string(error.what()).find("pulling"), std::string::npos);
                                           ++refused;
                                         }
                                       }));
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(refused, 20);
}

TEST_P(PipelineContract, SaysSoWhenItsLanesMayNotSpin) {
  auto options = usual();
  // Takes as many lanes as there are CPUs, which leaves none to other threads.
  options.lanes = static_cast<unsigned>(Topology::detect().busy_threads());
  for (bool const asked : {false, true}) {
    if (asked) options.tuning.spin = std::chrono::microseconds(10);
    Pipeline pipe(device(), options);
    EXPECT_EQ(pipe.options().tuning.spin, std::chrono::microseconds(0));
    CountingSource source(10);
    Report const report = pipe.run(source, add_one(), [](Completion&) {});
    bool const said = std::any_of(report.remarks.begin(), report.remarks.end(), [](std::string const& remark) {
      return remark.find("do not spin") != std::string::npos;
    });
    EXPECT_EQ(said, asked) << "only the caller that asked is told";
  }
}

TEST_P(PipelineContract, LetsOneWatchForTilesWhereThereAreCpusForIt) {
  auto options = usual();
  options.tuning.spin = std::chrono::microseconds(0);
  options.tuning.borrow_spin = std::chrono::microseconds(50);
  Pipeline pipe(device(), options);
  // One thread watches, and the consumer, if results go through the graph; two CPUs are for all others.
  bool const room = Topology::detect().busy_threads() >= (enters_graph(pipe.options()) ? 4U : 3U);
  EXPECT_EQ(pipe.options().tuning.borrow_spin->count() > 0, room);
  CountingSource source(500);
  Report const report = pipe.run(source, add_one(), [](Completion&) {});
  EXPECT_EQ(report.tiles_done, 500u);
  bool const refused = std::any_of(report.remarks.begin(), report.remarks.end(), [](std::string const& remark) {
    return remark.find("watches for tiles") != std::string::npos;
  });
  EXPECT_NE(refused, room);
}

/// Eight tiles go round, and filling one takes nothing. Seen to fail if no producer is sent home.
TEST_P(PipelineContract, LetsProducersRestThatAreNotNeeded) {
  auto options = usual();
  options.producers = 4;
  open(options);
  constexpr std::uint64_t tiles = 20'000;
  CountingSource source(tiles);
  Report const report = pipeline().run(source, add_one(), [](Completion&) {});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.tiles_done, tiles);
  // None rests where a tile takes longer than 20 us to fill, as it does while the fillers' CPUs are taken away.
  if (report.fill > tiles * std::chrono::microseconds(5)) GTEST_SKIP() << "too busy a machine: " << describe(report);
  EXPECT_GT(report.producers_rest.count(), 0);
  // None rests for longer than the run takes, and one is always at work.
  EXPECT_LE(report.producers_rest, 3 * report.wall);
}

TEST_P(PipelineContract, SharesItsDeviceWithAnother) {
  open();
  Pipeline other(device(), usual());
  CountingSource source(200), others(200);
  Report report;
  {
    std::jthread beside([&] { report = other.run(others, add_one(), [](Completion&) {}); });
    EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 200u);
  }
  EXPECT_EQ(report.tiles_done, 200u) << describe(report);
  EXPECT_EQ(other.pool().on_loan(), 0u);
}

TEST_P(PipelineContract, RefusesToRunTwiceAtOnce) {
  open();
  pipeline().start(add_one(), note());
  CountingSource source(1);
  EXPECT_THROW(static_cast<void>(pipeline().run(source, add_one(), note())), Error);
  EXPECT_THROW(pipeline().start(add_one(), note()), Error);
  static_cast<void>(pipeline().drain());
  EXPECT_THROW(static_cast<void>(pipeline().drain()), Error);
}

}  // namespace
}  // namespace penstock
