// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/ledger_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/core/failure_text.hpp"
#include "engine/machine/output_file.hpp"
#include "models/faults.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "programs/hash/hash_command.hpp"
#include "programs/hash/hash_job.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;

/// `penstock hash --ledger` of 200 files, which are more than one lease has.
struct HashOnALedger : support::FolderOfFiles {
  static constexpr int files = 200;
  HashCommand command;
  std::optional<Error> thrown;
  ExitCode code = exit_ok;
  std::string errors;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    for (int i = 0; i < files; ++i) command.paths.push_back(file("f" + std::to_string(i), 1000));
    command.pipeline.values["tile"] = "64KiB";
    command.pipeline.device = "cpu:0";  // There each file has a tile of its own, and goes to the device.
    command.ledger = path("ledger");
  }
  /// Makes the ledger, and hashes nothing.
  void fill(HashFiles const& written = {}) {
    StandardOutput output;
    HashJob const job({.paths = command.paths, .files = written, .tile_bytes = 1 << 16, .ledger = command.ledger},
                      output, {});
  }
  LedgerProgress progress() const { return SqliteLedger(command.ledger).progress(); }
  /// What it prints on a device that breaks at that tile; 0: it does not break.
  std::string run(std::uint64_t breaks_at = 0, HashFiles const& written = {}) {
    cpu::FaultyCpuDevice device;
    if (breaks_at != 0) device.inject(cpu::Fault::break_kernel, breaks_at);
    StandardOutput output;
    thrown.reset();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      code = command.run_on(device, output, written, {});
    } catch (Error const& error) {
      thrown = error;
    }
    errors = testing::internal::GetCapturedStderr();
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

/// The lines without that of this file.
std::string without(std::string lines, std::string const& path) {
  std::size_t const at = lines.find("  " + path + "\n"), begin = lines.rfind('\n', at) + 1;
  return lines.erase(begin, lines.find('\n', at) + 1 - begin);
}

TEST_F(HashOnALedger, HashesNoPageThatItIsToWriteAndMixesNoResultsForThat) {
  std::string const page_path = file("f5", 0);
  std::string const ledger = std::exchange(command.ledger, {}), expected = without(run(), page_path);
  {
    // The page is on the list: the process that made it knew of no page.
    command.ledger = ledger + "1";
    fill();
    OutputFile page(page_path);
    EXPECT_EQ(run(0, {.page = &page}), expected);
    EXPECT_EQ(code, exit_ok);
    EXPECT_GT(std::filesystem::file_size(page_path), 0U);
  }
  {
    // It is not, and others do not hash it either.
    file("f5", 0);
    command.ledger = ledger + "2";
    OutputFile page(page_path);
    fill({.page = &page});
    EXPECT_EQ(run(), expected);
    EXPECT_EQ(code, exit_ok);
  }
}

TEST_F(HashOnALedger, LeavesAPageAsItIsThatAnotherProcessHashed) {
  run();
  OutputFile page(path("f5"));
  run(0, {.page = &page});
  EXPECT_EQ(code, exit_some_failed);
  EXPECT_THAT(errors, HasSubstr("is among what was read"));
  EXPECT_EQ(std::filesystem::file_size(path("f5")), 1000U);
}

TEST_F(HashOnALedger, HashesNoFileThatBecameOneOfTheLedger) {
  std::filesystem::create_symlink(path("f0"), path("link"));
  command.paths.push_back(path("link"));
  fill();
  std::filesystem::remove(path("link"));
  std::filesystem::create_symlink(command.ledger, path("link"));
  run();
  EXPECT_EQ(code, exit_some_failed);
  EXPECT_THAT(errors, HasSubstr(path("link") + ": is a file of the ledger, which is not hashed"));
}

/// The files of a ledger, and their results as a test wants them.
struct FilesOnALedger : HashOnALedger {
  FileWalk walk{{}};
  std::optional<LedgerHash> hash;
  std::vector<WantedFile> wanted;

  void take_all() {
    fill();
    hash.emplace(
        command.ledger, command.paths, walk, [](std::string const&) { return false; }, std::stop_token());
    for (int i = 0; i < files; ++i) wanted.push_back(hash->next().value());
  }
  static HashedFile result_of(WantedFile const& file) {
    HashedFile result;
    result.path = file.path;
    result.digest.emplace();
    result.lease = file.lease;
    return result;
  }
};

/// Seen to fail where all problems after the loss of one device counted as the device's.
TEST_F(FilesOnALedger, AreSuspectsOnlyIfATileOfTheirsLostItsDevice) {
  take_all();
  for (int i = 0; i < files; ++i) {
    HashedFile result = result_of(wanted[static_cast<std::size_t>(i)]);
    if (i == 3 || i == 150) {
      result.digest.reset();
      result.problem = "no";
      result.fault = i == 3 ? HashFault::device : HashFault::file;
    }
    hash->file(result);
  }
  EXPECT_FALSE(hash->finish({}));
  EXPECT_EQ(progress().done, 1U);
  EXPECT_EQ(progress().suspects, 1U);
}

TEST_F(FilesOnALedger, AreGivenBackIfItWasTheProcessThatFailed) {
  take_all();
  for (int i = 0; i < files; ++i) {
    HashedFile result = result_of(wanted[static_cast<std::size_t>(i)]);
    if (i == 3) result.problem = "nothing but " + system_problem(EMFILE);
    if (i == 150) result.fault = HashFault::process;
    EXPECT_EQ(hash->file(result), i != 3 && i != 150);
  }
  EXPECT_THAT(hash->inability().value_or(""), HasSubstr("nothing but "));
  EXPECT_FALSE(hash->finish({}));
  EXPECT_EQ(progress().ready, 2U);
  EXPECT_EQ(progress().suspects, 0U);
}

TEST_F(HashOnALedger, IsNotWellWhileFilesHaveNoResult) {
  StandardOutput output;
  HashJob job({.paths = command.paths, .tile_bytes = 1 << 16, .ledger = command.ledger}, output, {});
  testing::internal::CaptureStderr();
  job.finish_ledger();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the same command goes on"));
  EXPECT_FALSE(job.all_well());
}

TEST_F(FilesOnALedger, BelongToTheLeaseThatTheyCameWithInWhateverOrder) {
  take_all();
  for (int i = 128; i < 150; ++i) hash->leave_out(wanted[static_cast<std::size_t>(i)]);
  for (int i = 150; i < files; ++i) hash->file(result_of(wanted[static_cast<std::size_t>(i)]));
  for (int i = 0; i < 128; ++i) hash->file(result_of(wanted[static_cast<std::size_t>(i)]));
  int next = 0;
  EXPECT_TRUE(hash->finish([&](HashedFile const& file) {
    if (next == 128) next = 150;
    EXPECT_EQ(file.path, path("f" + std::to_string(next++)));
  }));
  EXPECT_EQ(next, files);
}

}  // namespace
}  // namespace penstock::cli
