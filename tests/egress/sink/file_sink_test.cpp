// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <sys/mount.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "egress/sink/little_files.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

using support::FilesOfAtMost;
using support::numbered;
using testing::HasSubstr;

using AFileSink = support::FolderOfSinks;

TEST_F(AFileSink, HasTheRecordsInTheOrderOfTheCalls) {
  for (std::size_t const piece : {0UL, 100UL, 1UL << 20}) {
    FileSink sink(path("out"), {.writing = {.piece_bytes = piece}});
    for (int k = 0; k < 100; ++k) sink.append(numbered(k * 20, k % 7 == 0 ? 20 : 0)), sink.append(numbered(9, 1));
    sink.close();
    std::string expected;
    for (int k = 0; k < 100; ++k) expected += numbered(k * 20, k % 7 == 0 ? 20 : 0) + numbered(9, 1);
    EXPECT_EQ(content("out"), expected);
    EXPECT_EQ(sink.counts().written, expected.size());
    EXPECT_EQ(sink.counts().given, expected.size());
  }
}

TEST_F(AFileSink, GoesOnBehindAFileOrEmptiesIt) {
  hold("out", "old\n");
  FileSink(path("out"), {.keeping = FileKeeping::goes_on}).append("new\n");
  EXPECT_EQ(content("out"), "old\nnew\n");
  FileSink(path("out")).append("other\n");
  EXPECT_EQ(content("out"), "other\n");
}

TEST_F(AFileSink, ReplacesAFileAtOnce) {
  hold("out", "old");
  std::filesystem::permissions(path("out"), std::filesystem::perms(0640));
  FileSink sink(path("out"), {.keeping = FileKeeping::at_once, .writing = {.piece_bytes = 16}});
  sink.append(numbered(0, 100));
  EXPECT_EQ(content("out"), "old");
  sink.close();
  sink.close();
  EXPECT_EQ(content("out"), numbered(0, 100));
  EXPECT_EQ(std::filesystem::status(path("out")).permissions(), std::filesystem::perms(0640));
  EXPECT_THAT(problem_of([&] { sink.append("x"); }), HasSubstr("is closed"));
}

TEST_F(AFileSink, LeavesAFileThatItDoesNotCloseAsItWas) {
  hold("out", "old");
  { FileSink(path("out"), {.keeping = FileKeeping::at_once}).append("new"); }
  EXPECT_EQ(content("out"), "old");
}

TEST_F(AFileSink, EndsWithAWholeRecordWhereFilesMayNotBeLarger) {
  FilesOfAtMost const limit(1003);
  for (std::size_t const piece : {0UL, 64UL, 300UL, 1UL << 20}) {
    FileSink sink(path("out"), {.writing = {.piece_bytes = piece}});
    auto const fill = [&] {
      for (int k = 0; k < 200; ++k) sink.append(numbered(k, 1));
      sink.close();
    };
    std::string const problem = problem_of(fill);
    EXPECT_EQ(problem, path("out") +
                           " took less than all records (File too large), and got 1000 bytes in whole records: let "
                           "files be larger (ulimit -f), or name another file.");
    EXPECT_EQ(content("out"), numbered(0, 125)) << piece;
    EXPECT_EQ(sink.counts().written, 1000U);
    // It stays so: records behind a gap would be worse than none.
    if (piece == 0) {
      EXPECT_EQ(problem_of([&] { sink.append("small"); }), problem);
    }
  }
}

TEST_F(AFileSink, LeavesTheOldFileIfItCannotWriteTheNewOne) {
  hold("out", "old");
  FilesOfAtMost const limit(1000);
  FileSink sink(path("out"), {.keeping = FileKeeping::at_once});
  sink.append(numbered(0, 200));
  EXPECT_THAT(problem_of([&] { sink.close(); }), HasSubstr("(File too large), and is as it was: let files be larger"));
  EXPECT_EQ(content("out"), "old");
}

TEST_F(AFileSink, SaysThatADiskIsFull) {
  FileSink sink("/dev/full");
  sink.append("record");
  EXPECT_EQ(
      problem_of([&] { sink.close(); }),
      "/dev/full took less than all records (No space left on device), and got 0 bytes in whole records: see that "
      "its disk has room, or name another file.");
}

TEST_F(AFileSink, EndsWithAWholeRecordOnAFullDisk) {
  std::string const disk = path("disk");
  std::filesystem::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "needs to mount a file system";
  // Records of 24 bytes, of which no whole number fits into its pages.
  std::string const record = "twenty-three characters\n";
  std::string problem, text;
  {
    FileSink sink(disk + "/out", {.writing = {.piece_bytes = 10'000}});
    problem = problem_of([&] {
      for (int k = 0; k < 5000; ++k) sink.append(record);
    });
    text = content("disk/out");
    EXPECT_EQ(sink.counts().written, text.size());
  }
  umount(disk.c_str());
  EXPECT_THAT(problem, HasSubstr("No space left on device"));
  EXPECT_GT(text.size(), 60'000U);
  EXPECT_EQ(text.size() % record.size(), 0U);
}

TEST_F(AFileSink, RefusesWhatCannotBeWritten) {
  EXPECT_EQ(problem_of([&] { FileSink sink(folder); }), folder + ": Is a directory. Name a file that can be written.");
  EXPECT_THAT(problem_of([&] { FileSink sink(path("no/such")); }), HasSubstr("No such file or directory"));
  EXPECT_THAT(problem_of([&] { FileSink sink(1, "standard output", {.keeping = FileKeeping::at_once}); }),
              HasSubstr("cannot be put in the place of a file"));
}

TEST_F(AFileSink, IsStandardOutputIfItsNameIsADash) {
  testing::internal::CaptureStdout();
  {
    FileSink sink("-");
    sink.append("to all\n");
    EXPECT_THAT(problem_of([&] { sink.reopen(); }), HasSubstr("cannot be opened again"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to all\n");
}

TEST_F(AFileSink, OpensItsFileAgainOnceThatWasRenamed) {
  FileSink sink(path("log"));
  sink.append("one\n");
  std::filesystem::rename(path("log"), path("log.1"));
  sink.reopen();
  sink.append("two\n");
  sink.close();
  EXPECT_EQ(content("log.1"), "one\n");
  EXPECT_EQ(content("log"), "two\n");
  EXPECT_EQ(sink.counts().written, 8U);
}

TEST_F(AFileSink, CutsOffAPartOfARecordThatAKilledProgramLeft) {
  FileSinkOptions const options{.keeping = FileKeeping::goes_on, .record_end = "\n"};
  std::string const whole = support::numbered(1, 20000);
  for (std::string const& torn : {std::string(), std::string("2"), std::string(200000, 'x')}) {
    hold("out", whole + torn);
    FileSink(path("out"), options).append("next\n");
    EXPECT_EQ(content("out"), whole + "next\n");
    hold("out", torn);
    FileSink(path("out"), options).append("next\n");
    EXPECT_EQ(content("out"), "next\n");
  }
  hold("out", "one<>two<");
  FileSink(path("out"), {.keeping = FileKeeping::goes_on, .record_end = "<>"}).append("next<>");
  EXPECT_EQ(content("out"), "one<>next<>");
  hold("out", "one<>two<");
  FileSink(path("out"), {.keeping = FileKeeping::goes_on}).append("next<>");
  EXPECT_EQ(content("out"), "one<>two<next<>") << "nothing is known of its records";
  FileSink(path("new"), options).append("next\n");
  EXPECT_EQ(content("new"), "next\n");
}

TEST_F(AFileSink, CutsItOffAsWellWhenItOpensItsFileAgain) {
  FileSink file(path("out"), {.record_end = "\n"});
  file.append("one\n");
  file.flush();
  std::filesystem::rename(path("out"), path("out.1"));
  hold("out", "two\ntor");
  file.reopen();
  file.append("three\n");
  file.close();
  EXPECT_EQ(content("out"), "two\nthree\n");
}

}  // namespace
}  // namespace penstock
