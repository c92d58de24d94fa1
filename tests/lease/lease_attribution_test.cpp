// SPDX-License-Identifier: Apache-2.0
// Leases on a device that is lost, and whose tiles are run again: the test starts itself by its filter, and that
// process ends where the pipeline runs.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "observe/replay.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/lease_source.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::IsSupersetOf;
using testing::SizeIs;

/// Breaks the next kernel that is launched.
struct BreaksAKernel final : cpu::FaultHook {
  std::atomic<bool> armed{false};
  bool strikes(cpu::Fault what) noexcept override { return what == cpu::Fault::break_kernel && armed.exchange(false); }
};

/// A lease's input of which only the first tile can be read.
class ReadsItsFirstTile final : public LeaseInput {
 public:
  explicit ReadsItsFirstTile(std::unique_ptr<LeaseInput> all) : all_(std::move(all)) {}
  std::uint64_t size() const override { return all_->size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    if (offset != 0) throw Error(ErrorKind::system, "The second tile is damaged.");
    all_->read(offset, to);
  }

 private:
  std::unique_ptr<LeaseInput> const all_;
};

/// Six leases of one tile, all on the way when the first kernel may run.
struct SixLeasesOnADoomedDevice : testing::Test {
  static constexpr std::uint64_t leases = 6;
  std::unique_ptr<support::LedgerWorld> const world = support::make_running_memory_world();
  Ledger& ledger = world->ledger();
  support::Collector collector;
  std::shared_ptr<BreaksAKernel> const faults = std::make_shared<BreaksAKernel>();
  cpu::CpuDevice device{{.compute_threads = 1, .faults = faults}};
  /// No tile waits for others in a process that runs tiles again.
  bool const again = std::getenv(replay_variable) != nullptr;
  std::atomic<bool> all_there{again};
  unsigned tiles = leases;  ///< Of all leases.
  LeaseSourceOptions source_options;

  /// This tile, from 1 on, breaks the device.
  LeaseCounts run(std::uint64_t guilty, bool with_attribution = true) {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    PipelineOptions options{.tile = {.input_bytes = 64},
                            .producers = 1,
                            .lanes = 1,
                            .consumers = 1,
                            .tuning = {.tiles = tiles, .batch = 1, .slots = tiles, .transport = Transport::copies}};
    if (with_attribution)
      options.watching.hooks = {attribution(
          {"/proc/self/exe", std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name()})};
    Pipeline pipeline(device, options);
    LeaseSource source(ledger, pipeline.pool(), collector, source_options);
    auto const stage = on_device([&](DeviceTile const& tile, StreamRef stream) {
      if (tile.sequence + 1 == guilty) faults->armed = true;
      stream.launch(1, [this](std::uint32_t) { all_there.wait(false); });
      if (tile.sequence + 1 != tiles) return;
      all_there = true;
      all_there.notify_all();
    });
    Report const report = pipeline.run(source, stage, source.sink());
    report.unread.mark_read();
    EXPECT_EQ(report.attribution != nullptr, with_attribution) << describe(report);
    source.finish(report);
    return source.counts();
  }
};

/// Seen to fail where all that were on the device were suspects.
TEST_F(SixLeasesOnADoomedDevice, GoAgainTogetherButTheOneThatFailsByItself) {
  ledger.enqueue(support::numbered_work(leases), true);
  LeaseCounts const counts = run(3);
  LedgerProgress const all = ledger.progress();
  EXPECT_EQ(all.suspects, 1U) << describe(all);
  EXPECT_EQ(counts.failed, 1U);
  // Those behind it had not come back.
  EXPECT_GE(counts.given_back, 3U);
  auto const owner = ledger.join();
  auto const alone = owner->exchange({}, 16).taken;
  ASSERT_THAT(alone, SizeIs(1));
  EXPECT_EQ(alone[0].number, 3U);
  EXPECT_TRUE(alone[0].suspect);
  auto const rest = owner->exchange(support::settle_all(alone, Settlement::Kind::park), 16).taken;
  EXPECT_THAT(support::numbers_of(rest), IsSupersetOf({4, 5, 6}));
  for (Lease const& one : rest) EXPECT_EQ(one.charged, 1U) << one.number << ": for this time alone";
}

TEST_F(SixLeasesOnADoomedDevice, AreAllSuspectsWhereNothingSaysWhichItWas) {
  ledger.enqueue(support::numbered_work(leases), true);
  LeaseCounts const counts = run(3, false);
  EXPECT_EQ(counts.given_back, 0U);
  EXPECT_EQ(ledger.progress().suspects, counts.failed);
  EXPECT_GE(counts.failed, 4U);
}

/// A lease whose second tile cannot be read, while its first is on the device. Seen to fail where a tile that was lost
/// with the device was all that was known of a lease: it was given back, and not charged.
TEST_F(SixLeasesOnADoomedDevice, FailForWhatTheirOtherTilesFailedForThoughTheyAreInnocent) {
  auto work = support::numbered_work(leases);
  work[3].payload = std::string(2 * 64, '4');
  ledger.enqueue(work, true);
  tiles = leases + 1;
  source_options.open = [](Lease const& lease) -> std::unique_ptr<LeaseInput> {
    return std::make_unique<ReadsItsFirstTile>(open_lease(lease));
  };
  // It is parked with the reason at its third failure.
  {
    auto const owner = ledger.join();
    for (unsigned failure = 1; failure < support::LedgerWorld::most_tries; ++failure) {
      auto settlements = support::settle_all(owner->exchange({}, leases).taken, Settlement::Kind::give_back);
      ASSERT_THAT(settlements, SizeIs(leases));
      settlements[3].kind = Settlement::Kind::fail;
      owner->exchange(settlements, 0);
      world->let_pass(std::chrono::seconds(5));
    }
  }
  LeaseCounts const counts = run(3);
  EXPECT_EQ(ledger.progress().suspects, 1U);
  EXPECT_EQ(counts.failed, 2U);
  auto const parked = ledger.parked();
  ASSERT_THAT(parked, SizeIs(1));
  EXPECT_EQ(parked[0].number, 4U);
  EXPECT_EQ(parked[0].reason, "at source: The second tile is damaged.");
}

}  // namespace
}  // namespace penstock
