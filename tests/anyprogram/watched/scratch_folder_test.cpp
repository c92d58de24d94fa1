// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/scratch_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/folder_of_files.hpp"
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// TMPDIR is an empty folder.
struct FolderForAWhile : support::FolderOfFiles {
  void SetUp() override {
    support::FolderOfFiles::SetUp();
    setenv("TMPDIR", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    support::FolderOfFiles::TearDown();
  }
  std::size_t folders() const {
    fs::directory_iterator const all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// Leaves one with a file in it, as if the process was killed.
  void leave_one() const {
    pid_t const child = fork();
    if (child == 0) {
      ScratchFolder const scratch;
      std::ofstream(scratch.path() + "/log") << "content";
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
};

TEST_F(FolderForAWhile, IsRemovedInTheEnd) {
  std::optional<ScratchFolder> scratch(std::in_place);
  EXPECT_TRUE(fs::is_directory(scratch->path()));
  EXPECT_EQ(fs::path(scratch->path()).parent_path(), folder);
  std::ofstream(scratch->path() + "/log") << "content";
  scratch.reset();
  EXPECT_EQ(folders(), 0U);
}

TEST_F(FolderForAWhile, IsRemovedByTheNextIfItsProcessWasKilled) {
  leave_one();
  leave_one();
  EXPECT_EQ(folders(), 1U) << "the second has removed the first";
  {
    ScratchFolder const scratch;
    EXPECT_EQ(folders(), 1U);
  }
  EXPECT_EQ(folders(), 0U);
}

TEST_F(FolderForAWhile, IsLeftToAProcessThatHasIt) {
  ScratchFolder const one, other;
  leave_one();
  EXPECT_TRUE(fs::is_directory(one.path()));
  EXPECT_TRUE(fs::is_directory(other.path()));
  EXPECT_EQ(folders(), 3U);
}

TEST_F(FolderForAWhile, RemovesNothingElse) {
  fs::create_directory(path("penstock-watch-of-mine"));
  fs::create_directory(path("other"));
  std::ofstream(path("other/file")) << "content";
  std::ofstream(path("penstock-watch-file00")) << "content";
  fs::create_directory_symlink(path("other"), path("penstock-watch-link00"));
  { ScratchFolder const scratch; }
  EXPECT_EQ(folders(), 4U);
  EXPECT_TRUE(fs::exists(path("other/file")));
}

}  // namespace
}  // namespace penstock::cli
