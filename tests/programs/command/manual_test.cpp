// SPDX-License-Identifier: Apache-2.0
#include "programs/command/manual.hpp"

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "programs/command/ending.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A program with a command that has an option of each sort.
struct ManualOfAProgram : support::FolderOfFiles {
  CLI::App program{"Moves water.", "sluice"};
  CLI::App& gate = *program.add_subcommand("gate", "Open a gate");
  std::vector<std::string> places;
  std::string level;
  bool slow = false;

  ManualOfAProgram() {
    gate.add_option("PLACE", places, "Where");
    gate.add_option("-l,--level", level, "How far.\n'all' is the default")->type_name("N");
    auto& all = *gate.add_flag("--all-of-it", slow, "At once");
    gate.add_option("--speed", level, "How fast")->excludes(&all)->needs("--level");
    gate.add_flag("--secret", slow, "Not for all")->group("");
    gate.add_flag("--log", slow, "Say what is done")->group("Records");
    gate.footer(".5 is a half.\nN is a number");
  }
  std::string page() const { return manual_page(program, gate); }
};

TEST_F(ManualOfAProgram, HasItsSectionsInTheUsualOrder) {
  std::size_t last = 0;
  for (char const* const section : {".TH SLUICE\\-GATE 1", ".SH NAME\nsluice\\-gate \\- open a gate\n",
                                    ".SH SYNOPSIS\n", ".SH DESCRIPTION\nOpen a gate.\n", ".SH OPTIONS\n",
                                    ".SH EXIT STATUS\n", ".SH NOTES\n", ".SH SEE ALSO\n\\fBsluice\\fR(1)\n"}) {
    std::size_t const found = page().find(section);
    ASSERT_NE(found, std::string::npos) << section << " is not in\n" << page();
    EXPECT_GE(found, last) << section;
    last = found;
  }
}

TEST_F(ManualOfAProgram, NamesEachOptionWithWhatItTakes) {
  EXPECT_THAT(page(), HasSubstr("\\fBsluice gate\\fR [\\fIOPTION\\fR]... [\\fIPLACE\\fR]...\n"));
  EXPECT_THAT(page(), HasSubstr(".TP\n\\fIPLACE\\fR...\nWhere.\n"));
  EXPECT_THAT(page(),
              HasSubstr(".TP\n\\fB\\-l\\fR, \\fB\\-\\-level\\fR \\fIN\\fR\nHow far.\n\\(aqall\\(aq is the default.\n"));
  EXPECT_THAT(page(), HasSubstr(".TP\n\\fB\\-\\-all\\-of\\-it\\fR\nAt once. Not with \\-\\-speed.\n"));
  EXPECT_THAT(page(), HasSubstr("How fast. Needs \\-\\-level. Not with \\-\\-all\\-of\\-it.\n"));
}

TEST_F(ManualOfAProgram, PutsOptionsUnderTheNamesOfTheirGroupsAndLeavesOutWhatIsHidden) {
  EXPECT_THAT(page(), HasSubstr(".SS Records\n.TP\n\\fB\\-\\-log\\fR\nSay what is done.\n"));
  EXPECT_THAT(page(), Not(HasSubstr("secret")));
}

TEST_F(ManualOfAProgram, SaysWhatEachExitCodeMeans) {
  for (ExitMeaning const& one : exit_meanings) {
    EXPECT_THAT(page(), HasSubstr(".TP\n\\fB" + std::to_string(one.code) + "\\fR\n" + roff(one.words) + ".\n"));
  }
}

TEST_F(ManualOfAProgram, ListsItsCommands) {
  std::string const whole = manual_page(program, program);
  EXPECT_THAT(whole, HasSubstr(".SH NAME\nsluice \\- moves water\n"));
  EXPECT_THAT(whole, HasSubstr(".SH DESCRIPTION\nMoves water.\n"));
  EXPECT_THAT(whole, HasSubstr(".SH COMMANDS\n.TP\n\\fBgate\\fR\nOpen a gate.\nSee \\fBsluice\\-gate\\fR(1).\n"));
  EXPECT_THAT(whole, HasSubstr(".SH SEE ALSO\n\\fBsluice\\-gate\\fR(1)\n"));
}

TEST_F(ManualOfAProgram, HasNotesOfACommandWhoseHelpEndsInOtherWordsThanTheProgramsDoes) {
  program.footer("0 is all well.");
  CLI::App& other = *program.add_subcommand("lock", "Close all");
  EXPECT_THAT(manual_page(program, program), Not(HasSubstr("NOTES")));
  EXPECT_THAT(manual_page(program, other), Not(HasSubstr("NOTES")));
  EXPECT_THAT(page(), HasSubstr(".SH NOTES\n\\&.5 is a half.\nN is a number\n"));
}

TEST_F(ManualOfAProgram, IsTheSameHoweverOptionsLieInMemory) {
  CLI::App other("Moves water.", "sluice");
  CLI::App& command = *other.add_subcommand("gate", "Open a gate");
  std::vector<CLI::Option*> flags;
  for (char const* const name : {"--c", "--a", "--d", "--b"}) flags.push_back(command.add_flag(name));
  auto& all = *command.add_flag("--all");
  for (CLI::Option* const flag : flags) all.excludes(flag);
  EXPECT_THAT(manual_page(other, command), HasSubstr("Not with \\-\\-a, \\-\\-b, \\-\\-c, \\-\\-d.\n"));
}

TEST_F(ManualOfAProgram, IsWrittenIntoTheFoldersOfAnInstalledShare) {
  write_manual(program, folder);
  for (char const* const name : {"man/man1/sluice.1", "man/man1/sluice-gate.1", "bash-completion/completions/sluice"}) {
    EXPECT_GT(std::filesystem::file_size(path(name)), 100U) << name;
  }
  std::ifstream file(path("man/man1/sluice-gate.1"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), page());
}

TEST(TextForRoff, HasNoRequestsAndNoEscapesOfItsOwn) {
  EXPECT_EQ(roff(".br"), "\\&.br");
  EXPECT_EQ(roff("'br"), "\\(aqbr");
  EXPECT_EQ(roff("a\\fBc"), "a\\efBc");
  EXPECT_EQ(roff("--a-b"), "\\-\\-a\\-b");
  EXPECT_EQ(roff("\"1.5\" `^~"), "\\(dq1.5\\(dq \\(ga\\(ha\\(ti");
}

}  // namespace
}  // namespace penstock::cli
