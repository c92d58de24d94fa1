// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_output.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace penstock::cli {
namespace {

/// A run in which a tile failed first.
struct HashOutputOfAFailedTile : testing::Test {
  Report report;
  void SetUp() override {
    report.tiles_failed = 1;
    report.first_failure = FirstFailure{{"source", "the tile's"}, 0, 0};
  }
};

TEST_F(HashOutputOfAFailedTile, DoesNotSayThatTheRunBrokeOff) {
  EXPECT_EQ(broken_off(report), std::nullopt);
}

TEST_F(HashOutputOfAFailedTile, SaysOfTheInputThatBrokeOffWhyAndNotWhyTheTileFailed) {
  report.run_failures = {{"source", "the input's"}};
  EXPECT_EQ(broken_off(report), "the input's");
}

TEST_F(HashOutputOfAFailedTile, SaysOfTheSinkThatFailedWhyAndNotWhyTheTileFailed) {
  report.sink_failures = 1;
  report.first_sink_failure = FirstFailure{{"sink", "the sink's"}, 3, 0};
  EXPECT_EQ(broken_off(report), "the sink's");
}

/// Lines of a run, into a file that is read back.
struct HashOutputOfAStoppedRun : testing::Test {
  int const file = memfd_create("lines", MFD_CLOEXEC);
  StandardOutput standard{file};
  Progress progress{false};

  ~HashOutputOfAStoppedRun() override { close(file); }

  static HashedFile hashed(std::string const& name) {
    HashedFile file;
    file.path = file.shown = name;
    file.digest.emplace();
    return file;
  }
  static HashedFile cancelled(std::string const& name) {
    HashedFile file;
    file.path = file.shown = name;
    file.cancelled = true;
    return file;
  }
  static HashedFile failed(std::string const& name) {
    HashedFile file;
    file.path = file.shown = name;
    file.problem = "no such file";
    return file;
  }
  std::string printed(HashFormat format) {
    HashOutput output(format, progress, standard);
    for (HashedFile const& each : {hashed("a"), cancelled("b"), hashed("c"), failed("d")}) output.file(each);
    EXPECT_TRUE(output.flush());
    EXPECT_FALSE(output.all_well());
    std::string text(4096, '\0');
    ssize_t const got = pread(file, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
};

TEST_F(HashOutputOfAStoppedRun, PrintsNoSumBehindTheFileThatWasCancelled) {
  EXPECT_EQ(printed(HashFormat::hashes), std::string(64, '0') + '\n');
}

TEST_F(HashOutputOfAStoppedRun, StillPrintsWhichFilesFailed) {
  EXPECT_EQ(printed(HashFormat::check),
            "a: FAILED\n"
            "d: FAILED (no such file)\n");
}

TEST_F(HashOutputOfAStoppedRun, HasALineForEachFileWithTheNamesOfTheColumnsFirst) {
  EXPECT_EQ(printed(HashFormat::csv),
            "path,bytes,blake3,matches,problem\na,0," + std::string(64, '0') + ",,\nd,,,,no such file\n");
}

}  // namespace
}  // namespace penstock::cli
