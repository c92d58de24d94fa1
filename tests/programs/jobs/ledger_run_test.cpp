// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/ledger_run.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "models/faults.hpp"
#include "penstock/error.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/job.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "programs/jobs/job_leases.hpp"

namespace penstock::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// `run --ledger` of a job that counts the bytes of 12 files, each of which is a lease of three tiles. Every test must
/// leave with the bytes of all files counted once, but for those that it leaves out.
struct ARunOnALedger : support::FolderOfFiles {
  static constexpr std::uint64_t files = 12, bytes_of_file = 3 * 4096 - 1;
  std::vector<std::string> paths;
  std::function<void(unsigned tile)> at_tile;  ///< Called for each tile of this process, from 1 on.
  std::atomic<unsigned> tiles = 0, divided = 0;
  std::uint64_t left_out = 0;
  std::uint64_t bytes_of_lease = 1;
  cpu::FaultyCpuDevice device;
  Job job{.name = "counting", .options = {files_option("input", "Files")}, .parallel_sink = true};
  measure::Setting wanted{.tile = 4096, .job = &job};

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (std::uint64_t k = 0; k < files; ++k) paths.push_back(file("f" + std::to_string(k), bytes_of_file));
    wanted.values.set("input", paths);
    job.parts = [this](JobPoint const& point, std::uint64_t) {
      ++divided;
      std::vector<JobPart> parts;
      for (std::string const& path : point.values.texts("input")) parts.push_back({.path = path});
      return parts;
    };
    job.make = [this](JobPoint const& point) {
      auto const sum = std::make_shared<std::atomic<std::uint64_t>>(0);
      std::vector<std::string> inputs;
      for (JobPart const& part : point.parts) inputs.push_back(part.path);
      return JobWork{.source = [inputs, stop = point.stop](Pool const& pool) -> std::unique_ptr<Source> {
                       return std::make_unique<FileSource>(inputs, pool, FileSourceOptions{.stop = stop});
                     },
                     .stages = on_device([](DeviceTile const&, StreamRef) {}),
                     .sink =
                         [this, sink_sum = sum](Completion& done) {
                           if (done.ok()) *sink_sum += done.loan->filled;
                           unsigned const tile = ++tiles;
                           if (at_tile) at_tile(tile);
                         },
                     .results = [sum] { return std::to_string(sum->load()); },
                     .partial = [sum] { return std::to_string(sum->load()); },
                     .add_partial = [sum](std::string_view text) { *sum += std::stoull(std::string(text)); }};
    };
  }
  void TearDown() override {
    at_tile = nullptr;
    LedgerRun run(shared(), wanted, {});
    run.work(device, {});
    EXPECT_TRUE(run.finished());
    measure::JobRun const all = run.results();
    EXPECT_EQ(all.results, std::to_string((files - left_out) * bytes_of_file));
    EXPECT_EQ(all.report.bytes_in, (files - left_out) * bytes_of_file);
    EXPECT_EQ(all.report.ok(), left_out == 0);
    support::FolderOfFiles::TearDown();
  }
  SharedWork shared(LedgerRole role = LedgerRole::alone) const {
    return {.path = path("ledger"), .part_bytes = bytes_of_lease, .role = role};
  }
  LedgerProgress progress() const { return SqliteLedger(path("ledger")).progress(); }
};

TEST_F(ARunOnALedger, HasALeaseForEachPart) {
  LedgerRun const run(shared(LedgerRole::supervisor), wanted, {});
  EXPECT_EQ(progress().leases, files);
  EXPECT_EQ(progress().ready, files);
  EXPECT_TRUE(progress().closed);
}

/// Seen to fail where each process that was no worker divided the input.
TEST_F(ARunOnALedger, DividesItsInputOnceAndShowsResultsThoughThatIsGone) {
  {
    LedgerRun run(shared(), wanted, {});
    run.work(device, {});
  }
  for (std::string const& path : paths) std::filesystem::remove(path);
  for (LedgerRole const role : {LedgerRole::supervisor, LedgerRole::alone})
    EXPECT_EQ(LedgerRun(shared(role), wanted, {}).results().results, std::to_string(files * bytes_of_file));
  EXPECT_EQ(divided, 1U);
}

/// Seen to fail where a ledger that was there was taken for one that has its leases.
TEST_F(ARunOnALedger, FillsTheLedgerThatAKilledProcessMadeAndDidNotFill) {
  { SqliteLedger const made(path("ledger"), {.purpose = purpose_of(job, wanted.point())}); }
  LedgerRun const run(shared(LedgerRole::supervisor), wanted, {});
  EXPECT_EQ(progress().leases, files);
}

/// Seen to fail where it said what this process had done.
TEST_F(ARunOnALedger, SaysHowManyLeasesOfAllAreDone) {
  LedgerRun other(shared(), wanted, {});
  EXPECT_THAT(other.so_far().words, StartsWith("0 of 12 leases done, 0"));
  LedgerRun run(shared(), wanted, {});
  run.work(device, {});
  LeasesSoFar const so_far = other.so_far();
  EXPECT_THAT(so_far.words, AllOf(StartsWith("12 of 12 leases done, "), EndsWith("/s, 0 out")));
  EXPECT_EQ(so_far.part, 1.0);
}

/// Seen to fail where the leases that a stop cut short were answered.
TEST_F(ARunOnALedger, GoesOnWhereAStopLeftIt) {
  for (unsigned const tile : {1U, 2U, 3U, 5U}) {
    std::stop_source stop;
    tiles = 0;
    at_tile = [&](unsigned now) {
      if (now == tile) stop.request_stop();
    };
    LedgerRun run(shared(), wanted, stop.get_token());
    run.work(device, {});
    EXPECT_FALSE(run.finished());
  }
  EXPECT_EQ(progress().out, 0U);
  SqliteLedger ledger(path("ledger"));
  auto const taken = ledger.join()->exchange({}, 1).taken;
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].charged, 1U) << "a stop charges nothing";
}

TEST_F(ARunOnALedger, GoesOnWhereAKilledProcessLeftIt) {
  for (unsigned const tile : {1U, 4U, 9U}) {
    EXPECT_EXIT(
        {
          at_tile = [&](unsigned now) {
            if (now == tile) static_cast<void>(raise(SIGKILL));
          };
          LedgerRun run(shared(), wanted, {});
          run.work(device, {});
        },
        testing::KilledBySignal(SIGKILL), "");
  }
}

/// Seen to fail where what the loss of the device failed was the answer.
TEST_F(ARunOnALedger, LeavesToOthersWhatWasOnALostDevice) {
  for (std::uint64_t const upload : {1U, 7U}) {
    cpu::FaultyCpuDevice doomed;
    doomed.inject(cpu::Fault::break_upload, upload);
    LedgerRun run(shared(), wanted, {});
    std::optional<Error> thrown;
    try {
      run.work(doomed, {});
    } catch (Error const& error) {
      thrown = error;
    }
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown->kind(), ErrorKind::device_lost);
    EXPECT_EQ(progress().suspects, 1U);
    EXPECT_EQ(progress().out, 0U);
  }
}

TEST_F(ARunOnALedger, SharesItsLeasesWithAnotherThatHasTheSameResults) {
  LedgerRun other(shared(), wanted, {});
  cpu::CpuDevice second;
  {
    std::jthread const works([&] { other.work(second, {}); });
    LedgerRun run(shared(), wanted, {});
    run.work(device, {});
    EXPECT_TRUE(run.finished());
  }
  EXPECT_EQ(other.results().results, std::to_string(files * bytes_of_file));
  EXPECT_EQ(tiles, files * 3);
}

TEST_F(ARunOnALedger, SaysWhatAJobLacksThatAddsUpNoParts) {
  Job half = job;
  half.make = [this](JobPoint const& point) {
    JobWork work = job.make(point);
    work.add_partial = {};
    return work;
  };
  measure::Setting setting = wanted;
  setting.job = &half;
  LedgerRun run(shared(), setting, {});
  EXPECT_THROW(run.work(device, {}), Error);
}

TEST_F(ARunOnALedger, LeavesOutWhatHasChangedSinceTheLedgerWasMade) {
  { LedgerRun const made(shared(LedgerRole::supervisor), wanted, {}); }
  file("f3", 5);
  std::filesystem::remove(path("f7"));
  left_out = 2;
  LedgerRun run(shared(), wanted, {});
  run.work(device, {});
  EXPECT_EQ(progress().parked, 0U);
  Report const report = run.results().report;
  ASSERT_TRUE(report.first_failure);
  EXPECT_THAT(report.first_failure->failure.reason, HasSubstr("f3 left out: "));
  EXPECT_THAT(report.first_failure->failure.reason, HasSubstr("was changed or removed after the ledger was made"));
  ASSERT_EQ(report.run_failures.size(), 1U);
  EXPECT_THAT(report.run_failures[0].reason, HasSubstr("f7 left out: "));
}

/// Seen to fail where a file that was changed left out all files of its lease.
TEST_F(ARunOnALedger, LeavesOutNoOtherFileOfALease) {
  bytes_of_lease = 1U << 30U;
  std::filesystem::remove(path("f5"));
  { LedgerRun const made(shared(LedgerRole::supervisor), wanted, {}); }
  EXPECT_EQ(progress().leases, 1U);
  file("f3", 5);
  at_tile = [&](unsigned now) {
    if (now == 1) std::filesystem::last_write_time(paths[0], std::filesystem::file_time_type::clock::now());
  };
  left_out = 3;
  LedgerRun run(shared(), wanted, {});
  run.work(device, {});
  Report const report = run.results().report;
  std::vector<std::string> reasons{report.first_failure->failure.reason};
  for (Failure const& failure : report.run_failures) reasons.push_back(failure.reason);
  EXPECT_THAT(reasons, UnorderedElementsAre(HasSubstr("f0 left out: it was changed"), HasSubstr("f3 left out: it was"),
                                            AllOf(HasSubstr("f5"), Not(HasSubstr("left out: it was")))));
}

/// Seen to fail where a file was looked at only before it was read.
TEST_F(ARunOnALedger, LeavesOutWhatChangesWhileItIsRead) {
  left_out = 1;
  at_tile = [&](unsigned now) {
    if (now == 1) std::filesystem::last_write_time(paths[0], std::filesystem::file_time_type::clock::now());
  };
  LedgerRun run(shared(), wanted, {});
  run.work(device, {});
  EXPECT_EQ(progress().parked, 0U);
  EXPECT_THAT(run.results().report.first_failure->failure.reason, HasSubstr("f0 left out: it was changed or removed"));
}

}  // namespace
}  // namespace penstock::cli
