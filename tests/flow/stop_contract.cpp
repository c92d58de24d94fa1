// SPDX-License-Identifier: Apache-2.0
// What a run that is asked to stop promises.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "flow/pipeline_contract.hpp"

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
  std::atomic<int> filled{0};
};

TEST_P(PipelineContract, StopsWhenAskedAndAccountsForEveryTile) {
  open();
  CountedSource source(1'000'000);
  std::stop_source stop;
  std::mutex mutex;
  std::vector<support::Hold> held;
  bool released = false;
  // Both lanes are held with what they have in flight, so that all tiles go out and stay out.
  Stages const stages = add_one([&](DeviceTile const&, StreamRef stream) {
    std::scoped_lock const lock(mutex);
    if (!released) held.push_back(kernels().hold(stream));
  });
  std::jthread stopper([&] {
    while (source.filled < 8) std::this_thread::yield();
    stop.request_stop();
    std::scoped_lock const lock(mutex);
    released = true;
    held.clear();
  });
  Report const report = pipeline().run(source, stages, note(), stop.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.tiles(), sunk().size());
  EXPECT_EQ(report.tiles(), 8u) << "what was out came back, and nothing more";
  EXPECT_EQ(report.tiles_failed, 0u);
  EXPECT_LE(report.tiles_done, 4u) << "no more than were in flight";
  expect_each_once(report.tiles());
}

TEST_P(PipelineContract, StopsWhenAnotherThreadSaysSo) {
  open();
  std::jthread stopper;
  CountingSource source(1'000'000);
  Report const report = pipeline().run(source, add_one(), note([&](Completion&) {
                                         if (!stopper.joinable()) stopper = std::jthread([&] { pipeline().stop(); });
                                       }));
  EXPECT_TRUE(report.stopped);
  EXPECT_LT(report.tiles(), 1'000'000u);
  expect_each_once(report.tiles());
}

}  // namespace
}  // namespace penstock
