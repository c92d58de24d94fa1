// SPDX-License-Identifier: Apache-2.0
// Promises of a pipeline whatever its lanes are like.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

TEST_P(PipelineBySignal, CompletesEachTileOnceWithItsOwnContent) {
  PipelineOptions options = usual();
  options.tuning.priority = -1;
  PipelineWorld::open(options);
  CountingSource source(100);
  Report const report = pipeline().run(source, add_one(), note());
  handed_in = 100;
  EXPECT_TRUE(report.ok()) << describe(report);
  expect_each_once(100);
  for (Sunk const& tile : sunk()) EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
}

TEST_P(PipelineBySignal, GivesTheSameByEachTransport) {
  PipelineOptions options = usual();
  for (Transport const transport : all_transports) {
    SCOPED_TRACE(to_string(transport));
    options.tuning.transport = transport;
    std::size_t const before = sunk().size();
    PipelineWorld::open(options);
    CountingSource source(100);
    Report const report = pipeline().run(source, add_one(), note());
    handed_in += 100;
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(expect_done_or_cancelled(before, 100), 100u);
    std::uint64_t mapped = 0;
    for (LaneSummary const& lane : report.lanes) mapped += lane.mapped;
    if (transport == Transport::copies) {
      EXPECT_EQ(mapped, 0u);
    } else {
      EXPECT_GE(mapped, transport == Transport::mapped ? 100u : 1u) << "the first tile found the device idle";
    }
  }
}

TEST_P(PipelineContract, SaysThatAStageCannotHaveMappedTilesBeforeItIsFed) {
  PipelineOptions options = usual();
  options.tuning.transport = Transport::mapped;
  open(options);
  CountingSource source(10);
  Stages const stages = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
  EXPECT_THROW(static_cast<void>(pipeline().run(source, stages, note())), Error);
}

TEST_P(PipelineContract, LaunchesGraphsIfAskedAndSaysIfItCannot) {
  for (bool const waits : {false, true}) {
    SCOPED_TRACE(waits);
    PipelineOptions options = usual();
    options.tuning.batch = 1;
    options.tuning.transport = Transport::copies;
    options.tuning.graphs = Graphs::always;
    open(options);
    CountingSource source(100);
    Stages const stages = on_device(
        [&](DeviceTile const& tile, StreamRef stream) {
          kernels().add_one(stream, tile.input);
          if (waits) stream.synchronize();
          return tile.input.size();
        },
        {.capturable = true});
    std::size_t const before = sunk().size();
    Report const report = pipeline().run(source, stages, note());
    EXPECT_TRUE(report.ok()) << describe(report);
    auto const all = sunk();
    for (std::size_t i = before; i < all.size(); ++i) EXPECT_TRUE(all[i].content_right) << "tile " << all[i].sequence;
    std::uint64_t graphs = 0;
    for (LaneSummary const& lane : report.lanes) graphs += lane.graphs;
    EXPECT_EQ(graphs, waits ? 0u : 100u);
    auto const said = std::count_if(report.remarks.begin(), report.remarks.end(), [](std::string const& remark) {
      return remark.find("promises to be capturable") != std::string::npos;
    });
    EXPECT_EQ(said, waits ? 1 : 0) << "not once for all lanes";
  }
}

TEST_P(PipelineContract, SaysThatAStageDoesNotPromiseTheGraphsThatAreAsked) {
  for (Graphs const graphs : {Graphs::always, Graphs::automatic}) {
    PipelineOptions options = usual();
    options.tuning.graphs = graphs;
    open(options);
    CountingSource source(10);
    Report const report = pipeline().run(source, add_one(), note());
    auto const said = std::count_if(report.remarks.begin(), report.remarks.end(), [](std::string const& remark) {
      return remark.find("does not promise to be capturable") != std::string::npos;
    });
    EXPECT_EQ(said, graphs == Graphs::always ? 1 : 0) << to_string(graphs);
  }
}

TEST_P(PipelineContract, CallsTheSinkOnTheLanesIfAsked) {
  PipelineOptions options = usual();
  options.tuning.sink_on_lanes = true;
  open(options);
  std::mutex mutex;
  std::set<std::thread::id> lanes, sinks;
  CountingSource source(200);
  Report const report = pipeline().run(source, add_one([&](DeviceTile const&, StreamRef) {
                                         std::scoped_lock const lock(mutex);
                                         lanes.insert(std::this_thread::get_id());
                                       }),
                                       note([&](Completion&) {
                                         std::scoped_lock const lock(mutex);
                                         sinks.insert(std::this_thread::get_id());
                                       }));
  EXPECT_TRUE(report.ok()) << describe(report);
  expect_each_once(200);
  EXPECT_EQ(sinks, lanes);
}

TEST_P(PipelineContract, CountsASinkThatThrowsOnALane) {
  PipelineOptions options = usual();
  options.tuning.sink_on_lanes = true;
  open(options);
  CountingSource source(20);
  Report const report = pipeline().run(source, add_one(), note([](Completion& done) {
                                         if (done.loan->sequence == 7) throw 7;
                                       }));
  EXPECT_EQ(report.sink_failures, 1u);
  EXPECT_NE((describe(report) + "\n").find("the sink failed on 1 completion\n"), std::string::npos) << describe(report);
  EXPECT_EQ(report.tiles_done, 20u);
}

TEST_P(PipelineContract, RefusesASinkOnLanesInOrder) {
  PipelineOptions options = usual();
  options.ordered = true;
  options.tuning.sink_on_lanes = true;
  EXPECT_THROW(open(options), Error);
}

}  // namespace
}  // namespace penstock
