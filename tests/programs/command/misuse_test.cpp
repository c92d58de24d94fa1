// SPDX-License-Identifier: Apache-2.0
#include "programs/command/misuse.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "programs/command/arguments.hpp"

namespace penstock::cli {
namespace {

/// A command with an option of each kind. What it is asked wrongly is said in words of ours.
struct ACommand : testing::Test {
  CLI::App command{"Says it", "say"};
  unsigned times = 0;
  double load = 0;
  bool json = false, csv = false, quiet = false;
  std::string program;
  std::vector<std::string> pair;

  void SetUp() override {
    command.add_option("--times", times)->type_name("N")->check(whole_number(0, 9));
    command.add_option("--load", load)->type_name("PART");
    command.add_option("--both", pair)->expected(2)->type_name("A B");
    auto& as_json = *command.add_flag("--json", json);
    command.add_flag("--csv", csv)->excludes(&as_json);
    command.add_flag("--quiet", quiet)->needs(&as_json);
    command.add_option("PROGRAM", program, "Behind --: the program\nand more")->required();
  }
  std::string misuse(std::vector<std::string> words) {
    // CLI11 takes them backwards.
    std::vector<std::string> backwards(words.rbegin(), words.rend());
    try {
      command.parse(std::move(backwards));
    } catch (CLI::ParseError const& error) {
      return misuse_text(error, command);
    }
    return "";
  }
};

TEST_F(ACommand, SaysWhichValueIsMissing) {
  EXPECT_EQ(misuse({"it", "--times"}), "--times takes a value: write --times N");
  EXPECT_EQ(misuse({"it", "--both", "one"}), "--both takes 2 values: write --both A B");
}

TEST_F(ACommand, SaysThatAnOptionIsThereTwice) {
  EXPECT_EQ(misuse({"it", "--times", "1", "--times", "2"}), "--times is there 2 times: name it once");
}

TEST_F(ACommand, SaysWhichOptionsDoNotGoTogether) {
  EXPECT_EQ(misuse({"it", "--csv", "--json"}), "--json does not go with --csv: name one of them");
  EXPECT_EQ(misuse({"it", "--quiet"}), "--quiet needs --json");
}

TEST_F(ACommand, SaysWhatIsMissing) {
  EXPECT_EQ(misuse({}), "PROGRAM is missing: behind --: the program");
}

TEST_F(ACommand, SaysThatAFlagTakesNoValue) {
  EXPECT_EQ(misuse({"it", "--json=much"}), "--json takes no value: leave out '=much'");
}

TEST_F(ACommand, SaysWhichValueIsNone) {
  EXPECT_EQ(misuse({"it", "--load", "much"}), "--load: 'much' is no value of it");
  EXPECT_EQ(misuse({"it", "--times", "10"}), "--times: '10' is not a whole number from 0 to 9");
}

TEST_F(ACommand, SuggestsWhatATypingErrorWasMeantToBe) {
  EXPECT_EQ(misuse({"it", "--tmies", "1"}), "--tmies is no option of say: did you mean --times?");
}

}  // namespace
}  // namespace penstock::cli
