// SPDX-License-Identifier: Apache-2.0
// Tests files that are written to file systems that refuse more than others: the calls are this program's own.
#include <cerrno>
#include <fstream>
#include <ostream>
#include <sstream>

#include "support/folder_of_files.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/machine/output_file.hpp"
#include "penstock/error.hpp"

namespace {

/// Error with which each call is refused; 0: it is not.
struct Refusals {
  int fchown = 0, fchmod = 0, fsync = 0, linkat = 0;
} refusals;

template <class... Arguments>
int refuse_or_call(int error, long number, Arguments... arguments) {
  if (error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(syscall(number, arguments...));
}

}  // namespace

extern "C" {

int fchown(int file, uid_t owner, gid_t group) noexcept {
  return refuse_or_call(refusals.fchown, SYS_fchown, file, owner, group);
}
int fchmod(int file, mode_t mode) noexcept {
  return refuse_or_call(refusals.fchmod, SYS_fchmod, file, mode);
}
int fsync(int file) {
  return refuse_or_call(refusals.fsync, SYS_fsync, file);
}
int linkat(int from_folder, char const* from, int to_folder, char const* to, int flags) noexcept {
  return refuse_or_call(refusals.linkat, SYS_linkat, from_folder, from, to_folder, to, flags);
}

}  // extern "C"

namespace penstock {
namespace {

namespace fs = std::filesystem;

/// A file "old" of mode 0640 that is replaced. Every test must leave with no other.
struct AnOutputFileWhereCallsAreRefused : support::FolderOfFiles {
  void SetUp() override {
    support::FolderOfFiles::SetUp();
    std::ofstream(path("old")) << "old";
    fs::permissions(path("old"), fs::perms(0640));
  }
  void TearDown() override {
    refusals = {};
    for (auto const& entry : fs::directory_iterator(folder)) EXPECT_EQ(entry.path().filename(), "old");
    support::FolderOfFiles::TearDown();
  }
  void save() const {
    OutputFile(path("old")).write("the text", [](std::ostream& out) { out << std::string(200'000, 'x'); });
  }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path("old")).rdbuf();
    return text.str();
  }
  void expect_saved() const {
    EXPECT_EQ(content(), std::string(200'000, 'x'));
    EXPECT_EQ(fs::status(path("old")).permissions(), fs::perms(0640));
  }
  void expect_kept(int error) const {
    try {
      save();
      ADD_FAILURE() << "it was saved";
    } catch (Error const& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::system);
      EXPECT_NE(std::string(failure.what()).find(strerror(error)), std::string::npos) << failure.what();
    }
    EXPECT_EQ(content(), "old");
  }
};

TEST_F(AnOutputFileWhereCallsAreRefused, AsksForNoOwnerThatItHas) {
  refusals.fchown = EPERM;
  save();
  expect_saved();
}

TEST_F(AnOutputFileWhereCallsAreRefused, AsksForNoModeThatItHas) {
  fs::permissions(path("old"), fs::perms(0600));
  refusals.fchmod = EPERM;
  save();
  EXPECT_EQ(content(), std::string(200'000, 'x'));
  EXPECT_EQ(fs::status(path("old")).permissions(), fs::perms(0600));
}

TEST_F(AnOutputFileWhereCallsAreRefused, IsAsItWasIfItCannotHaveTheModeOfTheOldOne) {
  refusals.fchmod = EPERM;
  expect_kept(EPERM);
}

TEST_F(AnOutputFileWhereCallsAreRefused, IsDoneWhereNothingCanBeSynced) {
  for (int const error : {EINVAL, ENOTSUP}) {
    refusals.fsync = error;
    save();
    expect_saved();
  }
}

TEST_F(AnOutputFileWhereCallsAreRefused, IsAsItWasIfTheDiskFailsOnceItIsSynced) {
  refusals.fsync = EIO;
  expect_kept(EIO);
}

TEST_F(AnOutputFileWhereCallsAreRefused, IsCopiedWhereAFileWithoutNameGetsNone) {
  for (int const error : {ENOENT, EOPNOTSUPP, EXDEV}) {
    refusals.linkat = error;
    save();
    expect_saved();
  }
}

}  // namespace
}  // namespace penstock
