// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/scratch_file.hpp"

#include <cstdlib>
#include <sstream>

#include "support/folder_of_files.hpp"

#include "penstock/core/error.hpp"
#include "penstock/machine/output_file.hpp"
#include "tools/command/child.hpp"

namespace penstock::cli {
namespace {

/// A folder for such files. Every test must leave it empty.
struct AScratchFile : support::FolderOfFiles {
  void SetUp() override {
    support::FolderOfFiles::SetUp();
    setenv("TMPDIR", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    support::FolderOfFiles::TearDown();
  }
};

TEST_F(AScratchFile, HasNoNameWhileItIsThere) {
  ScratchFile const file;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(AScratchFile, IsWrittenByAnotherProcessAndReadHere) {
  ScratchFile const file;
  EXPECT_EQ(run_child({"/bin/sh", "-c", "printf text >" + file.path()}).code, 0);
  std::ostringstream text;
  text << std::ifstream(file.path()).rdbuf();
  EXPECT_EQ(text.str(), "text");
}

TEST_F(AScratchFile, IsWrittenAsItIs) {
  ScratchFile const file;
  OutputFile(file.path()).write("the text", [](std::ostream& out) { out << "text"; });
  std::ostringstream text;
  text << std::ifstream(file.path()).rdbuf();
  EXPECT_EQ(text.str(), "text");
}

TEST_F(AScratchFile, IsRefusedWhereNoneCanBeMade) {
  setenv("TMPDIR", path("nowhere").c_str(), 1);
  try {
    ScratchFile const file;
    ADD_FAILURE() << "it was made";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find("Let TMPDIR name a folder that can be written."), std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::cli
