// SPDX-License-Identifier: Apache-2.0
// What a pipeline promises whatever its lanes are like.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "flow/pipeline_contract.hpp"

namespace penstock {
namespace {

TEST_P(PipelineContract, CompletesEachTileOnceByEverySignalInEveryShape) {
  std::uint64_t before = 0;
  for (SignalKind const signal : all_signal_kinds) {
    for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
      SCOPED_TRACE(std::string(to_string(signal)) + (shape == LaneShape::split ? ", split" : ", single"));
      PipelineOptions options = usual();
      options.signal = signal;
      options.shape = shape;
      options.priority = -1;
      open(options);
      CountingSource source(100);
      Report const report = pipeline().run(source, add_one(), note());
      EXPECT_TRUE(report.ok()) << describe(report);
      auto const all = sunk();
      ASSERT_EQ(all.size(), before + 100);
      std::set<std::uint64_t> seen;
      for (std::size_t i = before; i < all.size(); ++i) {
        EXPECT_TRUE(all[i].content_right) << "tile " << all[i].sequence;
        seen.insert(all[i].sequence);
      }
      EXPECT_EQ(seen.size(), 100u);
      before = all.size();
    }
  }
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
