// SPDX-License-Identifier: Apache-2.0
// What a source says of leases that were on a device when that was lost.
#include <atomic>
#include <memory>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/fault_hook.hpp"

namespace penstock {
namespace {

using support::APipelineOnLeases;
using testing::SizeIs;

/// Breaks a device at its seventh upload.
struct BreaksAnUpload final : cpu::FaultHook {
  std::atomic<int> uploads = 0;
  bool strikes(cpu::Fault what) noexcept override { return what == cpu::Fault::break_upload && ++uploads == 7; }
};

TEST_F(APipelineOnLeases, MakesSuspectsOfWhatWasOnALostDevice) {
  enqueue(20);
  cpu::CpuDevice doomed({.faults = std::make_shared<BreaksAnUpload>()});
  {
    Pipeline pipe(doomed,
                  {.tile = {.input_bytes = tile_bytes}, .tuning = {.tiles = 4, .transport = Transport::copies}});
    LeaseSource on_it(ledger, pipe.pool(), collector, {.leases = 4});
    auto const stage = on_device([](DeviceTile const&, StreamRef) {});
    pipe.run(on_it, stage, on_it.sink()).unread.mark_read();
    on_it.finish();
    EXPECT_GT(on_it.counts().failed, 0U);
  }
  LedgerProgress const progress = ledger.progress();
  EXPECT_EQ(progress.out, 0U);
  EXPECT_GT(progress.suspects, 0U);
  open();
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(20);
}

/// Seen to fail where only a lease of which all tiles were cut could be a suspect: it would go out again beside others.
TEST_F(APipelineOnLeases, MakesASuspectOfALeaseThatIsLargerThanThePool) {
  ledger.enqueue(std::vector<LeaseWork>{{.payload = text_of(1, 40 * tile_bytes)}}, true);
  cpu::CpuDevice doomed({.faults = std::make_shared<BreaksAnUpload>()});
  {
    Pipeline pipe(doomed,
                  {.tile = {.input_bytes = tile_bytes}, .tuning = {.tiles = 4, .transport = Transport::copies}});
    LeaseSource on_it(ledger, pipe.pool(), collector);
    auto const stage = on_device([](DeviceTile const&, StreamRef) {});
    pipe.run(on_it, stage, on_it.sink()).unread.mark_read();
    on_it.finish();
  }
  EXPECT_EQ(ledger.progress().suspects, 1U);
  open();
  EXPECT_TRUE(run().ok());
  source->finish();
  ASSERT_THAT(ledger.answers(), SizeIs(1));
  EXPECT_EQ(ledger.answers()[0].answer, text_of(1, 40 * tile_bytes));
}

}  // namespace
}  // namespace penstock
