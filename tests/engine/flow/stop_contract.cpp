// SPDX-License-Identifier: Apache-2.0
// Tests the fate of a pipeline's tiles when it is stopped, drained or destroyed, whatever tells its lanes that one is
// done.
#include <atomic>
#include <thread>

#include "engine/flow/held_lanes.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

/// Counts the tiles it has filled.
class CountedSource final : public CountingSource {
 public:
  using CountingSource::CountingSource;
  std::size_t fill(Tile& tile) override {
    std::size_t const bytes = CountingSource::fill(tile);
    filled.fetch_add(1);
    return bytes;
  }
  std::atomic<std::uint64_t> filled{0};
};

TEST_P(PipelineBySignal, StopsWhenAskedAndAccountsForEveryTile) {
  if (GetParam().run_to_completion) GTEST_SKIP() << "A lane that is kept in a kernel has one tile, and takes no other.";
  open();
  CountedSource source(1'000'000);
  std::stop_source stop;
  // Both lanes are held, so that all tiles go out and stay out.
  HeldLanes held(kernels());
  std::jthread stopper([&] {
    while (source.filled < 8) std::this_thread::yield();
    stop.request_stop();
    held.release();
  });
  Report const report = pipeline().run(source, add_one([&](DeviceTile const&, StreamRef stream) { held.hold(stream); }),
                                       note(), stop.get_token());
  handed_in = source.filled;
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.tiles(), 8u) << "what was out came back, and nothing more";
  EXPECT_LE(report.tiles_done, 4u) << "no more than were in flight";
  EXPECT_EQ(expect_done_or_cancelled(0, 8), report.tiles_done);
}

TEST_P(PipelineBySignal, StopsWhenAnotherThreadSaysSo) {
  open();
  std::jthread stopper;
  CountedSource source(1'000'000);
  Report const report = pipeline().run(source, add_one(), note([&](Completion&) {
                                         if (!stopper.joinable()) stopper = std::jthread([&] { pipeline().stop(); });
                                       }));
  handed_in = source.filled;
  EXPECT_TRUE(report.stopped);
  EXPECT_LT(report.tiles(), 1'000'000u);
  EXPECT_EQ(expect_done_or_cancelled(0, report.tiles()), report.tiles_done);
}

TEST_P(PipelineBySignal, StopsAtWhateverMomentItsSinkAsks) {
  open();
  for (std::uint64_t const moment : {1U, 2U, 9U, 30U}) {
    SCOPED_TRACE(moment);
    std::size_t const before = sunk().size();
    std::stop_source stop;
    std::uint64_t came = 0;
    CountedSource source(1'000'000);
    Report const report = pipeline().run(source, add_one(), note([&](Completion&) {
                                           if (++came == moment) stop.request_stop();
                                         }),
                                         stop.get_token());
    handed_in += source.filled;
    EXPECT_TRUE(report.stopped);
    EXPECT_GE(report.tiles(), moment);
    EXPECT_LE(report.tiles(), moment + 8) << "no more than the tiles there are";
    EXPECT_EQ(expect_done_or_cancelled(before, report.tiles()), report.tiles_done);
  }
}

TEST_P(PipelineBySignal, DoesNothingIfItIsStoppedBeforeItBegins) {
  open();
  CountedSource source(1'000'000);
  std::stop_source stop;
  stop.request_stop();
  Report const report = pipeline().run(source, add_one(), note(), stop.get_token());
  handed_in = source.filled;
  EXPECT_TRUE(report.stopped);
  EXPECT_NE(describe(report).find("\nthe run was asked to stop"), std::string::npos) << describe(report);
  EXPECT_EQ(report.tiles_done, 0u);
  EXPECT_EQ(expect_done_or_cancelled(0, report.tiles()), 0u);
}

}  // namespace
}  // namespace penstock
