// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "support/child_of_fork.hpp"
#include "support/cpu_device_under_test.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "records/records_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, RecordsContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);

TEST(AReportOfRecords, NamesWhatFailedAndWasCancelledOnlyIfAnythingDid) {
  RecordReport report{.done = 5};
  report.left = {1, 2, 3, 4};
  auto const first_line = [&] {
    std::string const text = describe(report);
    return text.substr(0, text.find('\n'));
  };
  std::string const left = "; tiles left full 1, for hungry lanes 2, late 3, when asked 4";
  EXPECT_EQ(first_line(), "5 records done" + left);
  report.failed = 1;
  EXPECT_EQ(first_line(), "5 records done, 1 failed" + left);
  report.cancelled = 2;
  EXPECT_EQ(first_line(), "5 records done, 1 failed, 2 cancelled" + left);
}

/// Records on a CPU device that can be told to have faults.
struct RecordsOnAFaultyDevice : RecordsContract {
  cpu::FaultyCpuDevice& cpu() { return dynamic_cast<cpu::FaultyCpuDevice&>(device()); }
};

TEST_P(RecordsOnAFaultyDevice, FailEachRecordThatWasUnderWayWhenItIsLostAndRefuseMore) {
  pack().start(add_one_to_each(), note());
  cpu().inject(cpu::Fault::break_kernel, 20);
  std::uint64_t written = 0;
  {
    RecordWriter writer = records().writer();
    EXPECT_THROW(for (;; ++written) writer.append(content(written), written), Error);
  }
  RecordReport const report = records().drain();
  EXPECT_EQ(report.records(), written);
  EXPECT_GT(report.failed, 0u);
  auto const all = told();
  ASSERT_EQ(all.size(), written);
  for (auto const& [tag, one] : all) EXPECT_EQ(one.times, 1u) << tag;
}

/// The first tag that is no tile's. Seen to fail if it counts as one.
TEST(APipelineOfRecords, FailsATileWhoseTagIsNotTheirs) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(
      device,
      {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true}, .lanes = 1, .tuning = {.tiles = 4}});
  Records records(pipeline, {.record_bytes = 64});
  records.start(on_device([](DeviceRecords const&, StreamRef) {}), [](RecordCompletion const&) {});
  Loan loan = pipeline.feed().borrow();
  loan->tag = pipeline.pool().size();
  pipeline.feed().submit(std::move(loan));
  Report const report = records.drain().tiles;
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.tiles_failed, 1U);
  ASSERT_TRUE(report.first_failure);
  EXPECT_THAT(report.first_failure->failure.reason, testing::StartsWith("The tag of a tile of records was changed"));
}

/// Seen to fail where the child waited for the reply, which no thread of the child brings, and where it sent the record
/// of its copy of the writer.
TEST(AChildOfForkWithRecords, EndsAndLeavesThemToItsParent) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(
      device,
      {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true}, .lanes = 1, .tuning = {.tiles = 4}});
  // The record waits for others.
  Records records(pipeline, {.record_bytes = 64, .linger = std::chrono::hours(1), .least_bytes = 4096});
  records.start(on_device([](DeviceRecords const&, StreamRef) {}), [](RecordCompletion const&) {});
  RecordReply reply(records);
  {
    RecordWriter writer = records.writer();
    std::array<std::byte, 64> const record{};
    writer.append(record, reply);
    int const code = support::exit_code_of_child([&] {
      std::destroy_at(&writer);
      bool const sent = pipeline.snapshot().submitted != 0;
      std::destroy_at(&reply);
      std::destroy_at(&records);
      std::destroy_at(&pipeline);
      std::destroy_at(&device);
      return sent ? 1 : 7;
    });
    EXPECT_EQ(code, 7);
  }
  EXPECT_EQ(reply.wait(), Outcome::done);
  EXPECT_TRUE(records.drain().ok());
}

INSTANTIATE_TEST_SUITE_P(Cpu, RecordsOnAFaultyDevice, testing::Values(support::cpu_device_under_test()), name_of);

}  // namespace
}  // namespace penstock
