// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "records/records_contract.hpp"
#include "support/cpu_device_under_test.hpp"
#include "support/left_alive.hpp"
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/models/faults.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, RecordsContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);

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

/// A child of fork has a copy of records that are started, and not their threads.
[[noreturn]] void fork_with_live_records() {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline pipeline(
      device,
      {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true}, .lanes = 1, .tuning = {.tiles = 4}});
  static Records records(pipeline, {.record_bytes = 64});
  records.start(on_device([](DeviceRecords const&, StreamRef) {}), [](RecordCompletion const&) {});
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);  // It is not inherited.
    support::ends_with_live_threads = true;
    std::exit(7);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) std::_Exit(1);
  if (!records.drain().ok()) std::_Exit(2);
  std::exit(WEXITSTATUS(status));
}

TEST(AChildOfForkWithRecords, EndsByExitAndLeavesThemToItsParent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fork_with_live_records(), testing::ExitedWithCode(7), "");
}

INSTANTIATE_TEST_SUITE_P(Cpu, RecordsOnAFaultyDevice, testing::Values(support::cpu_device_under_test()), name_of);

}  // namespace
}  // namespace penstock
