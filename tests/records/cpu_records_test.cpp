// SPDX-License-Identifier: Apache-2.0
#include "records/records_contract.hpp"
#include "support/cpu_device_under_test.hpp"

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

INSTANTIATE_TEST_SUITE_P(Cpu, RecordsOnAFaultyDevice, testing::Values(support::cpu_device_under_test()), name_of);

}  // namespace
}  // namespace penstock
