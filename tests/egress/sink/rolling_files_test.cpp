// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "egress/sink/little_files.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

using support::numbered;
using testing::ElementsAre;

/// A folder of files that roll, and a clock that the test sets.
struct FilesThatRoll : support::FolderOfSinks {
  std::chrono::system_clock::time_point now{};
  RollingOptions options(std::uint64_t bytes, std::size_t keep = 0) const {
    return {.bytes = bytes, .time = std::chrono::seconds(60), .keep = keep, .clock = [this] { return now; }};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(FilesThatRoll, EndBeforeTheyAreTooLong) {
  RollingFiles files(path("{number}.log"), options(30));
  EXPECT_EQ(files.path(), "");
  for (int k = 0; k < 7; ++k) files.append(numbered(k, 1));
  files.append(numbered(7, 10));
  files.append(numbered(17, 1));
  EXPECT_EQ(files.path(), path("000005.log"));
  files.close();
  EXPECT_EQ(content("000001.log"), numbered(0, 3));
  EXPECT_EQ(content("000002.log"), numbered(3, 3));
  EXPECT_EQ(content("000003.log"), numbered(6, 1));
  EXPECT_EQ(content("000004.log"), numbered(7, 10)) << "what one call brings stays together";
  EXPECT_EQ(content("000005.log"), numbered(17, 1));
  EXPECT_EQ(files.counts().written, 18U * 8);
}

TEST_F(FilesThatRoll, EndWhenTheirTimeIsOver) {
  RollingFiles files(path("{time}-{number}"), options(0));
  files.append("a");
  now += std::chrono::seconds(59);
  files.append("b");
  now += std::chrono::seconds(1);
  files.append("c");
  now -= std::chrono::hours(1);
  files.append("d");
  files.close();
  EXPECT_THAT(names(), ElementsAre("19691231T230100Z-000003", "19700101T000000Z-000001", "19700101T000100Z-000002"));
  EXPECT_EQ(content("19700101T000000Z-000001"), "ab");
}

TEST_F(FilesThatRoll, KeepTheLastOnesOfTheirNamesOnly) {
  hold("000007.log", "old");
  hold("000008.log", "old");
  hold("000001.txt", "another's");
  RollingFiles files(path("{number}.log"), options(1, 2));
  files.append("new");
  EXPECT_THAT(names(), ElementsAre("000001.txt", "000008.log", "000009.log"));
  files.roll();
  files.roll();
  EXPECT_THAT(names(), ElementsAre("000001.txt", "000008.log", "000009.log")) << "no file without a record";
  files.append("newer");
  files.append("newest");
  EXPECT_THAT(names(), ElementsAre("000001.txt", "000010.log", "000011.log"));
  EXPECT_EQ(content("000010.log"), "newer");
}

TEST_F(FilesThatRoll, LeaveAFileThatAnotherProcessHasMade) {
  RollingFiles files(path("{number}.log"), options(1));
  hold("000001.log", "another's");
  files.append("ours");
  files.close();
  EXPECT_EQ(content("000001.log"), "another's");
  EXPECT_EQ(content("000002.log"), "ours");
}

TEST_F(FilesThatRoll, BeginNoFileBehindTheLastNumberThereIs) {
  hold("18446744073709551614.log", "old");
  RollingFiles files(path("{number}.log"), options(1, 1));
  files.append("last");
  EXPECT_THAT(problem_of([&] { files.append("too many"); }),
              testing::HasSubstr("No number is left for a file behind 18446744073709551615.log"));
  EXPECT_THAT(names(), ElementsAre("18446744073709551615.log"));
  EXPECT_EQ(files.path(), path("18446744073709551615.log"));
}

TEST_F(FilesThatRoll, EndWithAWholeRecordAndStayFailed) {
  support::FilesOfAtMost const limit(100);
  RollingFiles files(path("{number}.log"), {.bytes = 1000, .writing = {.piece_bytes = 50}});
  std::string const problem = problem_of([&] {
    for (int k = 0; k < 1000; ++k) files.append(numbered(k, 1));
  });
  EXPECT_THAT(problem, testing::HasSubstr("000001.log took less than all records (File too large), and got 96 bytes"));
  EXPECT_EQ(problem_of([&] { files.roll(); }), problem);
  EXPECT_THAT(names(), ElementsAre("000001.log"));
  EXPECT_EQ(content("000001.log"), numbered(0, 12));
}

TEST_F(FilesThatRoll, TryAgainToBeginTheNextFile) {
  std::filesystem::create_directory(path("logs"));
  RollingFiles files(path("logs/{number}"), options(0));
  std::filesystem::rename(path("logs"), path("away"));
  EXPECT_THAT(problem_of([&] { files.append("lost"); }), testing::HasSubstr("No such file or directory"));
  EXPECT_EQ(files.path(), "") << "it was not begun";
  std::filesystem::rename(path("away"), path("logs"));
  files.append("kept");
  files.close();
  EXPECT_EQ(content("logs/000001"), "kept");
}

}  // namespace
}  // namespace penstock
