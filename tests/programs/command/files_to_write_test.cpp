// SPDX-License-Identifier: Apache-2.0
#include "programs/command/files_to_write.hpp"

#include <vector>

#include "support/folder_of_files.hpp"

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// A folder with the file "there", and options that name files in it.
struct NamedFiles : support::FolderOfFiles {
  std::vector<NamedFile> read;
  std::vector<NamedFile> written;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    std::ofstream(path("there")) << "content";
  }
  /// Returns what is said of them; empty if they are apart.
  std::string said() const {
    try {
      FilesToWrite const files(read, written, {});
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    return "";
  }
  std::size_t files() const {
    std::filesystem::directory_iterator const all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(NamedFiles, AreApartAndNoneIsLeftThatWasNotThere) {
  read = {{"--file", path("there")}, {"--profile", ""}};
  written = {{"--html", path("page")}, {"--trace", path("trace")}, {"--save", ""}};
  EXPECT_EQ(said(), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(NamedFiles, KeepWhatTheyHold) {
  written = {{"--html", path("there")}};
  EXPECT_EQ(said(), "");
  EXPECT_EQ(std::filesystem::file_size(path("there")), 7U);
}

TEST_F(NamedFiles, AreRefusedIfAnInputWouldBeOverwrittenByAnotherName) {
  std::filesystem::create_hard_link(path("there"), path("too"));
  for (char const* const option : {"--html", "--trace", "--save"}) {
    read = {{"--profile", path("there")}};
    written = {{"--other", path("new")}, {option, path("too")}};
    EXPECT_EQ(said(),
              std::string(option) + " " + path("too") + " would overwrite what is to be read: name another file.");
  }
  EXPECT_EQ(files(), 2U);
}

TEST_F(NamedFiles, AreRefusedIfTwoWouldBeOne) {
  written = {{"--save", path("new")}, {"--html", ""}, {"--trace", folder + "/./new"}};
  EXPECT_EQ(said(), "--save and --trace both name " + path("new") +
                        ", which holds one of them: name another file for the other.");
  EXPECT_EQ(files(), 1U);
}

TEST_F(NamedFiles, AreRefusedIfTwoWouldBeOneBehindALink) {
  std::filesystem::create_symlink("new", path("link"));
  std::filesystem::create_symlink(path("link"), path("other"));
  written = {{"--save", path("new")}, {"--trace", path("other")}};
  EXPECT_EQ(said(), "--save and --trace both name " + path("new") +
                        ", which holds one of them: name another file for the other.");
  EXPECT_EQ(files(), 3U);
}

TEST_F(NamedFiles, AreRefusedIfTheyLieInAFolderThatIsRead) {
  std::filesystem::create_directory(path("inner"));
  std::ofstream(path("inner/there")) << "content";
  std::filesystem::create_symlink(path("inner/there"), path("link"));
  for (std::string const& name : {path("inner/there"), path("link"), path("inner/../inner/there")}) {
    read = {{"--input", folder + "/inner/."}};
    written = {{"--trace", name}};
    EXPECT_EQ(said(), "--trace " + name + " would overwrite what is to be read: name another file.");
  }
  written = {{"--trace", path("inner/new")}, {"--save", path("there")}};
  EXPECT_EQ(said(), "");
}

TEST_F(NamedFiles, MayBeWrittenAnewIfTheyAreReadBefore) {
  read = {{"--profile", path("there"), "--save"}};
  written = {{"--save", path("there")}};
  EXPECT_EQ(said(), "");
  written = {{"--trace", path("there")}};
  EXPECT_EQ(said(), "--trace " + path("there") + " would overwrite what is to be read: name another file.");
}

TEST_F(NamedFiles, LeaveALinkThatLeadsToNoFileYet) {
  std::filesystem::create_symlink(path("new"), path("link"));
  written = {{"--trace", path("link")}};
  EXPECT_EQ(said(), "");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(NamedFiles, MayBothGoNowhere) {
  written = {{"--html", "/dev/null"}, {"--trace", "/dev/null"}};
  EXPECT_EQ(said(), "");
}

TEST_F(NamedFiles, AreRefusedWhereNothingCanBeWritten) {
  written = {{"--html", path("no/page")}};
  EXPECT_EQ(said(), path("no/page") + ": No such file or directory. Name a file that can be written.");
}

}  // namespace
}  // namespace penstock::cli
