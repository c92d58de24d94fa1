// SPDX-License-Identifier: Apache-2.0
// What a pipeline promises whatever its lanes are like.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "flow/pipeline_contract.hpp"

namespace penstock {
namespace {

TEST_P(PipelineBySignal, CompletesEachTileOnceWithItsOwnContent) {
  PipelineOptions options = usual();
  options.priority = -1;
  PipelineWorld::open(options);
  CountingSource source(100);
  Report const report = pipeline().run(source, add_one(), note());
  handed_in = 100;
  EXPECT_TRUE(report.ok()) << describe(report);
  expect_each_once(100);
  for (Sunk const& tile : sunk()) EXPECT_TRUE(tile.content_right) << "tile " << tile.sequence;
}

TEST_P(PipelineContract, CallsTheSinkOnTheLanesIfAsked) {
  PipelineOptions options = usual();
  options.sink_on_lanes = true;
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
  options.sink_on_lanes = true;
  open(options);
  CountingSource source(20);
  Report const report = pipeline().run(source, add_one(), note([](Completion& done) {
                                         if (done.loan->sequence == 7) throw 7;
                                       }));
  EXPECT_EQ(report.sink_failures, 1u);
  EXPECT_EQ(report.tiles_done, 20u);
}

TEST_P(PipelineContract, RefusesASinkOnLanesInOrder) {
  PipelineOptions options = usual();
  options.ordered = true;
  options.sink_on_lanes = true;
  EXPECT_THROW(open(options), Error);
}

}  // namespace
}  // namespace penstock
