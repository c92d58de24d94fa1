// SPDX-License-Identifier: Apache-2.0
#include "programs/command/program.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "engine/machine/output_file.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

TEST(Child, TellsWhatItSaidAndHowItEnded) {
  ChildEnd const end = run_child({"/bin/sh", "-c", "echo out; echo complaint >&2; exit 3"});
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.complaint, "complaint\n");
}

TEST(Child, MaySayMoreThanPipesHoldOnBothAtOnce) {
  ChildEnd const end = run_child({"/bin/sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.output.size(), 300'000u);
  EXPECT_EQ(end.complaint.size(), 300'000u);
}

TEST(Child, HasNothingToReadAndAllSignals) {
  // Blocks the signal as Interrupt does.
  sigset_t kept;
  sigset_t before;
  sigemptyset(&kept);
  sigaddset(&kept, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &kept, &before);
  ChildEnd const end = run_child({"/bin/sh", "-c", "cat; kill -TERM $$; echo survived"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end.code, 128 + SIGTERM);
  EXPECT_EQ(end.output, "");
}

TEST(Child, IsInterruptedOnceItIsToStop) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(run_child({"/bin/sh", "-c", "exec tail -f /dev/null"}, stop.get_token()).code, 128 + SIGTERM);
}

TEST(Program, SaysItsNameBeforeASentence) {
  EXPECT_EQ(program_name(), "penstock_command_tests");
  EXPECT_EQ(title_of("bench"), "penstock_command_tests bench");
  EXPECT_EQ(message_of("It is gone."), "penstock_command_tests: It is gone.\n");
  testing::internal::CaptureStderr();
  tell("It is gone.");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), message_of("It is gone."));
}

TEST(Program, OfTheLegacyFlavourHasTheSameName) {
  char* const usual = program_invocation_short_name;
  std::string legacy = std::string(usual) + "-legacy";
  program_invocation_short_name = legacy.data();
  EXPECT_EQ(program_name(), usual);
  program_invocation_short_name = usual;
}

TEST(Child, ComplainsInOurWordsOrByItsExitCode) {
  EXPECT_EQ(complaint_of({.code = 2, .output = "", .complaint = std::string(program_name()) + ": No such device.\n"}),
            "No such device.");
  EXPECT_EQ(complaint_of({.code = 2, .output = "", .complaint = ""}), "it ended with 2");
}

TEST(Child, ThatIsNotThereIsAnErrorWithItsName) {
  try {
    run_child({"/nowhere/penstock-legacy"});
    ADD_FAILURE() << "it ran";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_NE(std::string(error.what()).find("/nowhere/penstock-legacy"), std::string::npos);
  }
}

TEST(SiblingProgram, LiesBesideThisOne) {
  std::string const path = sibling_program("other");
  std::string const here = this_program();
  EXPECT_EQ(path.substr(0, path.rfind('/')), here.substr(0, here.rfind('/')));
  EXPECT_TRUE(path.ends_with("/other"));
  EXPECT_GT(path.size(), 6u);
}

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

TEST(CommandText, IsAsAShellTakesIt) {
  std::array<char const*, 4> const arguments{"penstock", "bench", "a b", "it's"};
  EXPECT_EQ(command_text(4, arguments.data()), R"(penstock bench 'a b' 'it'\''s')");
}

struct CompanionLibrary : support::FolderOfFiles {};

TEST_F(CompanionLibrary, IsFoundBesideTheProgram) {
  std::string const program = this_program();
  EXPECT_EQ(companion_library(std::filesystem::path(program).filename()), program);
}

TEST_F(CompanionLibrary, IsFoundInTheFolderThatIsNamedUnlessItIsBesideTheProgram) {
  std::string const program = std::filesystem::path(this_program()).filename();
  for (std::string const& name : {std::string("libthere.so"), program}) std::ofstream(path(name)) << "";
  EXPECT_EQ(companion_library("libthere.so", folder), path("libthere.so"));
  EXPECT_EQ(companion_library(program, folder), this_program());
}

TEST_F(CompanionLibrary, ThatIsNowhereIsASentenceWithAllFolders) {
  try {
    static_cast<void>(companion_library("libnone.so", "/nowhere"));
    FAIL() << "it was found";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("libnone.so is in none of these folders: "),
                                             testing::HasSubstr("Install penstock again")));
  }
}

}  // namespace
}  // namespace penstock::cli
