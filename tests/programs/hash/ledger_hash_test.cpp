// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "models/faults.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "programs/hash/hash_command.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;

/// `penstock hash --ledger` of 200 files, which are more than one lease has.
struct HashOnALedger : support::FolderOfFiles {
  static constexpr int files = 200;
  HashCommand command;
  std::optional<Error> thrown;
  ExitCode code = exit_ok;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    for (int i = 0; i < files; ++i) command.paths.push_back(file("f" + std::to_string(i), 1000));
    command.pipeline.values["tile"] = "64KiB";
    command.ledger = path("ledger");
  }
  /// What it prints on a device that breaks at that tile; 0: it does not break.
  std::string run(std::uint64_t breaks_at = 0) {
    cpu::FaultyCpuDevice device;
    if (breaks_at != 0) device.inject(cpu::Fault::break_kernel, breaks_at);
    StandardOutput output;
    thrown.reset();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      code = command.run_on(device, output, {}, {});
    } catch (Error const& error) {
      thrown = error;
    }
    testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  }
};

/// Seen to fail where what the loss of the device failed counted as the files' results.
TEST_F(HashOnALedger, GoesOnAfterItsDeviceWasLost) {
  std::string const ledger = std::exchange(command.ledger, {}), expected = run();
  for (std::uint64_t const breaks_at : {1U, 150U, 200U}) {
    command.ledger = ledger + std::to_string(breaks_at);
    EXPECT_EQ(run(breaks_at), "");
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
    {
      LedgerProgress const progress = SqliteLedger(command.ledger).progress();
      EXPECT_EQ(progress.leases, 2U);
      EXPECT_GT(progress.ready, 0U);
      EXPECT_EQ(progress.done + progress.ready, 2U);
    }
    EXPECT_EQ(run(), expected);
    EXPECT_FALSE(thrown);
    EXPECT_EQ(code, exit_ok);
  }
}

TEST_F(HashOnALedger, NamesTheFilesOfALeaseThatIsParked) {
  run(1);
  {
    SqliteLedger ledger(command.ledger);
    auto const owner = ledger.join();
    Exchange const taken = owner->exchange({}, 1);
    ASSERT_EQ(taken.taken.size(), 1U);
    ASSERT_EQ(taken.taken[0].number, 1U);
    EXPECT_TRUE(taken.taken[0].suspect);
    Settlement const park{.kind = Settlement::Kind::park, .number = 1, .tries = taken.taken[0].tries, .text = "no"};
    EXPECT_TRUE(owner->exchange({&park, 1}, 0).refused.empty());
  }
  std::string const lines = run();
  EXPECT_FALSE(thrown);
  EXPECT_EQ(code, exit_some_failed);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), files - 128) << "those of the other lease";
}

}  // namespace
}  // namespace penstock::cli
