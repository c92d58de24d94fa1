// SPDX-License-Identifier: Apache-2.0
#include "programs/command/help_text.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

namespace penstock::cli {
namespace {

using testing::HasSubstr;

/// The help of a command with an option whose sentence is longer than a line.
struct AHelp : testing::Test {
  CLI::App program{"Does something", "count"};
  CLI::App* const command = program.add_subcommand("say", "Say it");
  std::string const long_sentence =
      "Says it as often as this number says, and not more often than that, whatever else was asked for,\nbehind this "
      "line, too";

  void SetUp() override {
    command->formatter(std::make_shared<HelpText>("it could not be said"));
    command->add_option("--times", "")->description(long_sentence);
    command->add_option("--an-option-whose-name-is-long-by-itself", "")->description(long_sentence);
    command->footer("A number is a number, and this sentence is here because a footer may be longer than a line, too.");
  }
};

TEST_F(AHelp, HasLinesOfAHundredCharactersAtMost) {
  std::istringstream lines(command->help());
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  EXPECT_LE(longest, 100U);
  EXPECT_GT(longest, 80U) << "the width is not used";
}

TEST_F(AHelp, SaysWhatEachExitCodeMeansForTheCommand) {
  EXPECT_THAT(command->help(), HasSubstr("  1    it could not be said, or standard output took nothing\n"));
  EXPECT_THAT(command->help(), HasSubstr("  2    bad options; nothing was done\n"));
  EXPECT_EQ(HelpText::some_failed_of(*command), "it could not be said, or standard output took nothing");
}

TEST_F(AHelp, KeepsEveryWordOfAnOption) {
  std::string text = command->help(), words;
  std::istringstream all(text.substr(text.find("--times")));
  for (std::string word; all >> word;) words += word + ' ';
  EXPECT_THAT(words, HasSubstr("whatever else was asked for, behind this line, too"));
}

TEST_F(AHelp, HasItsExamplesAsTheyAre) {
  command->formatter(std::make_shared<HelpText>("it could not be said", "count say --times 3\ncount say\n"));
  EXPECT_THAT(command->help(), HasSubstr("Examples:\n  count say --times 3\n  count say\n\nExit codes:\n"));
}

TEST_F(AHelp, HasNoTwoEmptyLinesInARow) {
  EXPECT_THAT(command->help(), testing::Not(HasSubstr("\n\n\n")));
}

TEST_F(AHelp, SaysInSentencesWhatGoesWithAnOption) {
  auto& json = *command->add_flag("--json")->description("Print JSON");
  command->add_flag("--csv")->description("Print lines with commas")->excludes(&json);
  command->add_flag("--names")->description("With names")->needs(&json);
  EXPECT_THAT(command->help(), HasSubstr("Print lines with commas. Not with --json.\n"));
  EXPECT_THAT(command->help(), HasSubstr("With names. Needs --json.\n"));
}

TEST(GroupOptions, PutsThoseOfManyUnderHeadings) {
  CLI::App command;
  for (char const* const name : {"--own", "--producers", "--lanes", "--device", "--json"}) command.add_option(name);
  group_options(command);
  EXPECT_EQ(command.get_option("--lanes")->get_group(), "Options") << "there are few";
  for (int i = 0; i < 20; ++i) command.add_option("--own-" + std::to_string(i));
  command.add_option("--csv")->group("");
  group_options(command);
  EXPECT_EQ(command.get_option("--lanes")->get_group(), "Pipeline");
  EXPECT_EQ(command.get_option("--device")->get_group(), "Devices");
  EXPECT_EQ(command.get_option("--json")->get_group(), "Output");
  EXPECT_EQ(command.get_option("--csv")->get_group(), "") << "it is hidden";
  EXPECT_EQ(command.get_option("--own")->get_group(), "Options");
}

TEST(NearestTo, FindsWhatATypingErrorWasMeantToBe) {
  EXPECT_EQ(nearest_to("--prodcers", {"--lanes", "--producers"}), "--producers");
  EXPECT_EQ(nearest_to("bnech", {"hash", "bench"}), "bench");
  EXPECT_EQ(nearest_to("--lane", {"--lanes", "--load"}), "--lanes");
}

TEST(NearestTo, DoesNotGuess) {
  EXPECT_EQ(nearest_to("--colour", {"--lanes", "--load"}), "");
  EXPECT_EQ(nearest_to("x", {"hash", "try"}), "");
  EXPECT_EQ(nearest_to("", {"hash"}), "");
}

}  // namespace
}  // namespace penstock::cli
