// SPDX-License-Identifier: Apache-2.0
// Batches on a device of which each call can be refused, and that can be lost.
#include <algorithm>
#include <vector>

#include "support/cpu_device_under_test.hpp"

#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/batch_contract.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

struct BatchesOnAFaultyDevice : LaneOfBatches {
  static constexpr std::uint64_t tiles_in_all = 17;  ///< One alone, and two batches of eight.

  cpu::FaultyCpuDevice& cpu() { return dynamic_cast<cpu::FaultyCpuDevice&>(device()); }
  /// Returns tiles 0 to 16 as they came back, by sequence, from a lane that looks after its device itself.
  std::vector<Seen> run_with(cpu::Fault fault, std::uint64_t nth, bool together = true) {
    open_and_keep(noting(together), {.watchdog = std::chrono::milliseconds(1)});
    for (std::uint64_t i = 1; i < tiles_in_all; ++i) submit(i);
    cpu().inject(fault, nth);
    door.open();
    lane().close();
    auto all = seen();
    std::ranges::sort(all, {}, &Seen::sequence);
    return all;
  }
  static std::size_t batch_of(std::uint64_t sequence) { return (sequence + batch - 1) / batch; }
  /// Expects each tile once, and of each batch all failed or none.
  static void expect_whole_batches(std::vector<Seen> const& all) {
    ASSERT_EQ(all.size(), tiles_in_all);
    for (std::uint64_t i = 0; i < tiles_in_all; ++i) {
      EXPECT_EQ(all[i].sequence, i);
      EXPECT_TRUE(all[i].content_right) << i;
      auto const same_batch = [&](Seen const& other) { return batch_of(other.sequence) == batch_of(i); };
      EXPECT_TRUE(std::ranges::all_of(all, [&](Seen const& other) {
        return !same_batch(other) || other.outcome == all[i].outcome;
      })) << i;
    }
  }
  static std::size_t failed(std::vector<Seen> const& all) {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](Seen const& tile) { return tile.outcome == Outcome::failed; }));
  }
};

/// Seen to fail if the rest of a batch is uploaded as if nothing was.
TEST_P(BatchesOnAFaultyDevice, FailAsAWholeIfTheirUploadIsRefused) {
  auto const all = run_with(cpu::Fault::refuse_upload, 1);
  expect_whole_batches(all);
  EXPECT_EQ(failed(all), 8u);
  EXPECT_EQ(all[1].stage, "upload");
  EXPECT_EQ(all[9].outcome, Outcome::done);
}

TEST_P(BatchesOnAFaultyDevice, FailAsAWholeIfTheirDownloadIsRefused) {
  auto const all = run_with(cpu::Fault::refuse_download, 3);
  expect_whole_batches(all);
  EXPECT_EQ(failed(all), 8u);
  EXPECT_EQ(all[9].stage, "download");
}

TEST_P(BatchesOnAFaultyDevice, FailOnlyTheTileWhoseLaunchWasRefusedUnnoticed) {
  auto const all = run_with(cpu::Fault::drop_launch, 4, false);
  ASSERT_EQ(all.size(), tiles_in_all);
  for (Seen const& tile : all) {
    EXPECT_EQ(tile.outcome, tile.sequence == 3 ? Outcome::failed : Outcome::done) << tile.sequence;
  }
}

TEST_P(BatchesOnAFaultyDevice, FailAsAWholeIfTheirOneLaunchWasRefusedUnnoticed) {
  auto const all = run_with(cpu::Fault::drop_launch, 2);
  expect_whole_batches(all);
  EXPECT_EQ(failed(all), 8u);
  EXPECT_EQ(all[8].stage, "stage");
}

/// Seen to fail if only the tile that is asked about is let go.
TEST_P(BatchesOnAFaultyDevice, CompleteEachTileOnceWhateverRecordIsRefused) {
  auto const all = run_with(cpu::Fault::refuse_record, GetParam().shape == LaneShape::split ? 5 : 2);
  expect_whole_batches(all);
  EXPECT_LE(failed(all), 8u);
}

/// Tiles that wait for their neighbours complete as well.
TEST_P(BatchesOnAFaultyDevice, CompleteEachTileOnceIfTheDeviceIsLost) {
  held.at = {1};
  open_and_keep(noting(), {.watchdog = std::chrono::milliseconds(1)});
  for (std::uint64_t i = 1; i <= 16; ++i) submit(i);
  cpu().inject(cpu::Fault::break_kernel, 3);  // Tile 0 and the hold have kernels before it.
  door.open();
  held.await_came(17);
  for (std::uint64_t i = 17; i < 20; ++i) submit(i);
  held.await_asleep();
  held.hold->open();
  auto const all = in_order(await_seen(20));
  lane().close();
  EXPECT_TRUE(lane().lost());
  ASSERT_EQ(all.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_TRUE(i == 0 || all[i].outcome == Outcome::failed) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, BatchesOnAFaultyDevice,
                         testing::ValuesIn(every_lane_on(support::cpu_device_under_test())), name_of_lane);

}  // namespace
}  // namespace penstock
