// SPDX-License-Identifier: Apache-2.0
// Tests what a sink does where the system refuses calls, which are this program's own, or memory.

// With _FORTIFY_SOURCE glibc's header defines poll; this file has its own.
#undef _FORTIFY_SOURCE

#include <cerrno>
#include <exception>
#include <iterator>
#include <string>

#include "support/failures_to_order.hpp"
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "penstock/egress/sinks.hpp"

namespace {

bool refuse_fsync_of_files, refuse_fsync_of_folders;
int interrupted_polls, polls;

}  // namespace

extern "C" {

int fsync(int file) {
  struct stat status {};
  fstat(file, &status);
  if (S_ISDIR(status.st_mode) ? refuse_fsync_of_folders : refuse_fsync_of_files) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, file));
}
int poll(pollfd* files, nfds_t count, int milliseconds) {
  ++polls;
  if (interrupted_polls > 0) {
    --interrupted_polls;
    errno = EINTR;
    return -1;
  }
  return static_cast<int>(syscall(SYS_poll, files, count, milliseconds));
}

}  // extern "C"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A folder of sinks. Every test must leave with as many files open as before.
struct ASinkWhereCallsAreRefused : support::FolderOfSinks {
  std::ptrdiff_t const open_before = open_files();
  void TearDown() override {
    refuse_fsync_of_files = refuse_fsync_of_folders = false;
    EXPECT_EQ(open_files(), open_before);
    FolderOfSinks::TearDown();
  }
  static std::ptrdiff_t open_files() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  }
};

TEST_F(ASinkWhereCallsAreRefused, GoesOnWithItsFileIfMemoryIsRefusedToOpenItAgain) {
  bool refused = true;
  for (std::size_t nth = 1; refused; ++nth) {
    std::filesystem::remove(path("a log with a name that is long"));
    FileSink sink(path("a log with a name that is long"), {.writing = {.piece_bytes = 0}});
    sink.append("old\n");
    auto const open = open_files();
    test::refuse(test::Refusal::memory, nth);
    try {
      sink.reopen();
    } catch (std::exception const&) {
    }
    refused = test::refuse_nothing();
    EXPECT_EQ(open_files(), open) << nth;
    EXPECT_EQ(problem_of([&] { sink.append("new\n"), sink.close(); }), "") << nth;
    EXPECT_EQ(content("a log with a name that is long"), "old\nnew\n") << nth;
  }
}

TEST_F(ASinkWhereCallsAreRefused, StaysFailedIfItsFileCannotBeSyncedAsItIsOpenedAgain) {
  FileSink sink(path("log"), {.synced = true});
  auto const open = open_files();
  refuse_fsync_of_files = true;
  std::string const problem = problem_of([&] { sink.reopen(); });
  EXPECT_THAT(problem, HasSubstr("log took less than all records (Input/output error)"));
  EXPECT_EQ(open_files(), open);
  EXPECT_EQ(problem_of([&] { sink.append("x"); }), problem);
}

TEST_F(ASinkWhereCallsAreRefused, SaysThatTheNameOfItsFileIsNotOnTheDisk) {
  refuse_fsync_of_folders = true;
  FileSink file(path("log"), {.synced = true});
  EXPECT_THAT(problem_of([&] { file.close(); }), HasSubstr("(Input/output error)"));
  FileSink at_once(path("kept"), {.keeping = FileKeeping::at_once});
  at_once.append("all");
  EXPECT_THAT(problem_of([&] { at_once.close(); }), HasSubstr("kept is written, but may not be found after a crash"));
  EXPECT_EQ(content("kept"), "all");
  RollingFiles files(path("{number}"), {.synced = true});
  std::string const problem = problem_of([&] { files.append("x"); });
  EXPECT_THAT(problem, HasSubstr("000001 took less than all records (Input/output error)"));
  EXPECT_EQ(problem_of([&] { files.append("x"); }), problem);
}

TEST_F(ASinkWhereCallsAreRefused, LeavesNoFileWithoutARecordIfMemoryIsRefusedToBeginIt) {
  bool refused = true;
  for (std::size_t nth = 1; refused; ++nth) {
    RollingFiles files(path("a log with a name that is long-{number}"), {.bytes = 1, .writing = {.piece_bytes = 0}});
    test::refuse(test::Refusal::memory, nth);
    try {
      files.append("more than a file is to have");
    } catch (std::exception const&) {
    }
    refused = test::refuse_nothing();
    EXPECT_EQ(problem_of([&] { files.append("more than a file is to have"), files.close(); }), "") << nth;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) {
      EXPECT_GT(entry.file_size(), 0U) << nth;
      std::filesystem::remove(entry);
    }
  }
}

TEST_F(ASinkWhereCallsAreRefused, LooksAgainForRoomWhereASignalInterruptedIt) {
  FileSink sink("/dev/null", {.writing = {.piece_bytes = 0}});
  polls = 0;
  interrupted_polls = 2;
  sink.append("x");
  EXPECT_EQ(polls, 3);
}

}  // namespace
}  // namespace penstock
