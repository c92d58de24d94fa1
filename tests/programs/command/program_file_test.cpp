// SPDX-License-Identifier: Apache-2.0
#include "programs/command/program_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// Files that are programs, and others.
struct FileThatIsToBeRun : support::FolderOfFiles {
  std::string make(std::string const& name, std::string const& text, unsigned mode) const {
    std::string const path = folder + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string refusal_of(std::string const& name) {
    try {
      static_cast<void>(find_program(name));
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    ADD_FAILURE() << name << " was found";
    return "";
  }
};

TEST_F(FileThatIsToBeRun, IsLookedForInPathUnlessItsNameHasASlash) {
  std::string const path = getenv("PATH");
  setenv("PATH", (folder + ":/bin").c_str(), 1);
  std::string const mine = make("sh", "#!/bin/sh\n", 0755);
  EXPECT_EQ(find_program("sh").path, mine);
  EXPECT_EQ(find_program("/bin/sh").path, "/bin/sh");
  EXPECT_THAT(refusal_of("no-such-program"), testing::HasSubstr("in no folder of PATH"));
  setenv("PATH", path.c_str(), 1);
}

TEST_F(FileThatIsToBeRun, IsToldByHowItIsLinked) {
  EXPECT_EQ(find_program("/bin/sh").kind, ProgramKind::dynamic);
  EXPECT_EQ(find_program(make("script", "#!/bin/sh\n", 0755)).kind, ProgramKind::script);
  std::string elf(64, '\0');
  elf.replace(0, 4,
              "\x7f"
              "ELF");
  elf[4] = 2;
  elf[18] = 62;
#ifdef __aarch64__
  elf[18] = static_cast<char>(183);
#endif
  EXPECT_EQ(find_program(make("whole", elf, 0755)).kind, ProgramKind::linked_whole);
  elf[18] = 3;
  EXPECT_EQ(find_program(make("other", elf, 0755)).kind, ProgramKind::foreign);
}

TEST_F(FileThatIsToBeRun, IsToldIfItTakesRights) {
  EXPECT_FALSE(find_program("/bin/sh").takes_rights);
  EXPECT_TRUE(find_program(make("set-uid", "#!/bin/sh\n", 04755)).takes_rights);
}

TEST_F(FileThatIsToBeRun, IsRefusedIfNoLibraryOfOursWouldBeLoadedIntoIt) {
  auto const answer = [](std::string const& name) -> std::string {
    try {
      return "found " + find_loading_program(name);
    } catch (Error const& error) {
      return error.what();
    }
  };
  EXPECT_EQ(answer("/bin/sh"), "found /bin/sh");
  EXPECT_THAT(answer(make("set-uid", "#!/bin/sh\n", 04755)), testing::HasSubstr("is set-uid or set-gid"));
  std::string elf(64, '\0');
  elf.replace(0, 4,
              "\x7f"
              "ELF");
  elf[4] = 2;
  elf[18] = 3;
  EXPECT_THAT(answer(make("other", elf, 0755)), testing::HasSubstr("another kind of processor"));
}

TEST_F(FileThatIsToBeRun, IsASentenceIfItCannotBe) {
  EXPECT_THAT(refusal_of(""), testing::HasSubstr("name one behind --"));
  EXPECT_THAT(refusal_of(folder + "/none"), testing::HasSubstr("No such file"));
  EXPECT_THAT(refusal_of(folder), testing::HasSubstr("is a folder"));
  EXPECT_THAT(refusal_of("/dev/null"), testing::HasSubstr("is no file"));
  EXPECT_THAT(refusal_of(make("plain", "text", 0644)), testing::HasSubstr("chmod +x"));
}

}  // namespace
}  // namespace penstock::cli
