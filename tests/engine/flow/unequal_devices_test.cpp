// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Has one device finish a tile whenever the other has finished ten, and the other run no further ahead than a while
/// of the machine's doing accounts for.
///
/// Blocks: a kernel until it is its turn. If the other device has nothing to do meanwhile that would be never, so that
/// after a while all threads go on, and the test fails.
class TenToOne {
 public:
  static constexpr std::uint64_t times = 10;
  static constexpr std::uint64_t ahead = 16;  ///< Tiles of the slow device.

  void fast_kernel() {
    std::unique_lock lock(mutex_);
    ++fast_;
    changed_.notify_all();
    await(lock, [&] { return fast_ <= times * (slow_ + ahead); });
  }
  void slow_kernel() {
    std::unique_lock lock(mutex_);
    ++slow_;
    changed_.notify_all();
    await(lock, [&] { return fast_ >= times * slow_; });
  }
  void end() {
    std::scoped_lock const lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  bool starved() const { return starved_; }

 private:
  void await(std::unique_lock<std::mutex>& lock, std::function<bool()> const& turn) {
    if (changed_.wait_for(lock, std::chrono::seconds(10), [&] { return over_ || turn(); })) return;
    starved_ = over_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t fast_ = 0, slow_ = 0;
  bool over_ = false, starved_ = false;
};

/// Two CPU devices under one pipeline, of which the second is a tenth as fast; the parameter is how many lanes each
/// has, and the most tiles in a batch.
struct UnequalDevices : testing::TestWithParam<std::pair<unsigned, unsigned>> {
  static constexpr std::uint64_t pool = 32;
  cpu::CpuDevice fast{{.ordinal = 0, .compute_threads = 1}};
  cpu::CpuDevice slow{{.ordinal = 1, .compute_threads = 1}};
  TenToOne pace;
  Pipeline pipeline{{&fast, &slow},
                    {.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
                     .producers = 1,
                     .lanes = 2 * GetParam().first,
                     .consumers = 1,
                     .tuning = {.tiles = pool, .batch = GetParam().second, .slots = 8}}};
};

/// Seen to fail, without batches, if LaneSet::submit does not look how many tiles a lane has. With batches a tile goes
/// to its neighbours' lane, and those of a slow one stay away with it.
TEST_P(UnequalDevices, GetTilesAsTheyDrainThem) {
  constexpr std::uint64_t tiles = 3300;
  std::uint64_t left = tiles;
  Stages const stage = {.make =
                            [this](StageContext const& context) {
                              struct Paced final : Stage {
                                Paced(TenToOne& by, bool fast) : pace(by), is_fast(fast) {}
                                std::size_t run(DeviceTile const& tile, StreamRef stream) override {
                                  stream.launch(
                                      1, [this](std::uint32_t) { is_fast ? pace.fast_kernel() : pace.slow_kernel(); });
                                  return tile.input.size();
                                }
                                TenToOne& pace;
                                bool const is_fast;
                              };
                              return std::make_unique<Paced>(pace, &context.device == &fast);
                            },
                        .merge = {}};
  Report const report =
      pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                     if (left == 0) {
                       pace.end();  // The rest of the slow device's tiles need not wait for more of the other's.
                       return std::nullopt;
                     }
                     --left;
                     return 64;
                   }),
                   stage, [](Completion&) {});
  EXPECT_FALSE(pace.starved()) << "all tiles were with one device, and the other had none";
  EXPECT_EQ(report.tiles_done, tiles) << describe(report);
  ASSERT_EQ(report.devices.size(), 2u);
  // The run takes as long as both together need, but for what is with them at its end.
  EXPECT_NEAR(static_cast<double>(report.devices[1].tiles), tiles / (TenToOne::times + 1.0), pool);
}

INSTANTIATE_TEST_SUITE_P(ByLanesAndBatch, UnequalDevices,
                         testing::Values(std::pair{1U, 1U}, std::pair{1U, 4U}, std::pair{2U, 1U}, std::pair{2U, 4U}),
                         [](auto const& one) {
                           return std::to_string(one.param.first) + "_lanes_each_batches_of_" +
                                  std::to_string(one.param.second);
                         });

}  // namespace
}  // namespace penstock
