// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/file_walk.hpp"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>
#include <memory>

#include "support/folder_of_files.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ingest/file/open_file.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// An empty directory of this test's own.
struct FileWalkInATree : testing::Test {
  std::string root;
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "penstock-walk-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(root); }
  void file(std::string const& path) {
    fs::create_directories(fs::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << path;
  }
  /// The paths below the root, those with a problem marked.
  std::vector<std::string> walk() {
    FileWalk walk({root});
    std::vector<std::string> all;
    while (auto const found = walk.next())
      all.push_back((found->problem.empty() ? "" : "!") + found->path.substr(root.size() + 1));
    return all;
  }
};

TEST_F(FileWalkInATree, GivesFilesInTheByteOrderOfTheirWholePaths) {
  for (char const* path : {"b", "a/z", "a.b", "a/c/d", "a-x", "Z", "a0"}) file(path);
  EXPECT_EQ(walk(), (std::vector<std::string>{"Z", "a-x", "a.b", "a/c/d", "a/z", "a0", "b"}));
}

TEST_F(FileWalkInATree, GivesEachFileToOneShard) {
  for (char const* path : {"a", "b/c", "b/d", "e", "f"}) file(path);
  std::vector<std::string> seen;
  for (std::size_t number = 1; number <= 2; ++number) {
    FileWalk walk({root, root + "/nowhere"}, {number, 2});
    while (auto const found = walk.next()) seen.push_back(found->path.substr(root.size() + 1));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "b/d", "f", "b/c", "e", "nowhere"}));
}

/// No thread has to look at it again then.
///
/// Seen to fail if what was named gets no kind.
TEST_F(FileWalkInATree, SaysWhatKindOfFileItSaw) {
  file("b");
  ASSERT_EQ(mkfifo((root + "/pipe").c_str(), 0600), 0);
  FileWalk walk({root + "/b", root + "/pipe", root + "/nowhere", root});
  for (mode_t const kind : {mode_t{S_IFREG}, mode_t{S_IFIFO}, mode_t{0}, mode_t{S_IFREG}}) {
    EXPECT_EQ(walk.next()->kind, kind);
  }
}

TEST_F(FileWalkInATree, PassesOverSymbolicLinksAndEmptyDirectories) {
  file("real");
  fs::create_symlink(root + "/real", root + "/link");
  fs::create_directory_symlink(root, root + "/loop");
  fs::create_directory(root + "/empty");
  EXPECT_EQ(walk(), std::vector<std::string>{"real"});
  FileWalk counted({root});
  while (counted.next()) {
  }
  EXPECT_EQ(counted.links(), 2U);
}

TEST_F(FileWalkInATree, SaysWhatElseItFound) {
  file("b");
  ASSERT_EQ(mkfifo((root + "/a").c_str(), 0600), 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  (root + "/c").copy(address.sun_path, sizeof address.sun_path - 1);
  int const socket_of_ours = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket_of_ours, reinterpret_cast<sockaddr const*>(&address), sizeof address), 0);
  close(socket_of_ours);
  EXPECT_EQ(walk(), (std::vector<std::string>{"!a", "b", "!c"}));
  FileWalk remedies({root});
  EXPECT_NE(remedies.next()->problem.find("name it on the command line"), std::string::npos);
  remedies.next();
  EXPECT_EQ(remedies.next()->problem, "is a socket, which cannot be read") << "naming it would not help";
}

TEST_F(FileWalkInATree, SaysWhyAFolderThatVanishedCannotBeRead) {
  for (char const* path : {"a", "b/c"}) file(path);
  FileWalk walk({root});
  EXPECT_EQ(walk.next()->path, root + "/a");
  fs::remove_all(root + "/b");
  auto const found = walk.next();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, root + "/b");
  EXPECT_EQ(found->problem, "No such file or directory (os error 2)");
}

TEST_F(FileWalkInATree, FollowsNoLinkThatTookTheFoldersPlaceSinceItWasListed) {
  for (char const* path : {"tree/a", "tree/b/c", "elsewhere/secret"}) file(path);
  FileWalk walk({root + "/tree"});
  EXPECT_EQ(walk.next()->path, root + "/tree/a");
  fs::rename(root + "/tree/b", root + "/tree/was-b");
  fs::create_directory_symlink(root + "/elsewhere", root + "/tree/b");
  auto const found = walk.next();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, root + "/tree/b");
  EXPECT_EQ(found->problem, "Not a directory (os error 20)");
  EXPECT_FALSE(walk.next());
}

TEST_F(FileWalkInATree, LeadsToTheFileThatWasFoundThoughALinkTookItsFoldersPlace) {
  for (char const* path : {"tree/b/c", "elsewhere/c"}) file(path);
  FileWalk walk({root + "/tree"});
  auto const found = walk.next();
  ASSERT_TRUE(found);
  fs::rename(root + "/tree/b", root + "/tree/was-b");
  fs::create_directory_symlink(root + "/elsewhere", root + "/tree/b");
  OpenFile const opened(*found->folder, "c");
  EXPECT_EQ(opened.size(), std::string("tree/b/c").size());
}

TEST_F(FileWalkInATree, GoesAsDeepAsTheTreeWithFewDescriptors) {
  constexpr std::size_t depth = 300;
  std::string const name(20, 'd');
  auto folder = std::make_shared<OpenFolder>(root);
  for (std::size_t level = 0; level < depth; ++level) {
    ASSERT_EQ(mkdirat(folder->descriptor(), name.c_str(), 0700), 0);
    for (char const* const leaf : {"a", "z"}) {
      close(openat(folder->descriptor(), leaf, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    folder = std::make_shared<OpenFolder>(*folder, name);
  }
  std::size_t const before = support::open_descriptors();
  FileWalk walk({root});
  std::size_t files = 0, most = 0, longest = 0;
  while (auto const found = walk.next()) {
    EXPECT_EQ(found->problem, "") << found->path;
    EXPECT_NO_THROW(OpenFile(*found->folder, found->path.substr(found->path.rfind('/') + 1)));
    ++files;
    longest = std::max(longest, found->path.size());
    if (files % 100 == 0) most = std::max(most, support::open_descriptors());
  }
  EXPECT_EQ(files, 2 * depth);
  EXPECT_GT(longest, std::size_t{PATH_MAX});
  EXPECT_LE(most, before + 40);
}

TEST_F(FileWalkInATree, GivesNamedPathsAsTheyAreAndInTheirOrder) {
  FileWalk walk({"/nonexistent", "-", root});
  EXPECT_EQ(walk.next()->path, "/nonexistent");
  EXPECT_EQ(walk.next()->path, "-");
  EXPECT_FALSE(walk.next());
}

}  // namespace
}  // namespace penstock::cli
