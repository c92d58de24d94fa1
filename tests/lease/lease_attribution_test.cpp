// SPDX-License-Identifier: Apache-2.0
// Leases on a device that is lost, and whose tiles are run again: the test starts itself by its filter, and that
// process ends where the pipeline runs.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "observe/replay.hpp"
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

  void SetUp() override { ledger.enqueue(support::numbered_work(leases), true); }
  /// The tile of this lease breaks the device.
  LeaseCounts run(std::uint64_t guilty, bool with_attribution = true) {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    PipelineOptions options{.tile = {.input_bytes = 64},
                            .producers = 1,
                            .lanes = 1,
                            .consumers = 1,
                            .tuning = {.tiles = leases, .batch = 1, .slots = leases, .transport = Transport::copies}};
    if (with_attribution)
      options.watching.hooks = {attribution(
          {"/proc/self/exe", std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name()})};
    Pipeline pipeline(device, options);
    LeaseSource source(ledger, pipeline.pool(), collector, {});
    auto const stage = on_device([&](DeviceTile const& tile, StreamRef stream) {
      if (tile.sequence + 1 == guilty) faults->armed = true;
      stream.launch(1, [this](std::uint32_t) { all_there.wait(false); });
      if (tile.sequence + 1 != leases) return;
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
  LeaseCounts const counts = run(3, false);
  EXPECT_EQ(counts.given_back, 0U);
  EXPECT_EQ(ledger.progress().suspects, counts.failed);
  EXPECT_GE(counts.failed, 4U);
}

}  // namespace
}  // namespace penstock
