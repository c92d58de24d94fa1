// SPDX-License-Identifier: Apache-2.0
#include "programs/command/completion.hpp"

#include <gmock/gmock.h>

#include "engine/core/words.hpp"
#include "models/models.hpp"
#include "penstock/options.hpp"
#include "programs/measure/sweep_arguments.hpp"

namespace penstock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A program with one command, whose options take values of each sort.
struct CompletionOfAProgram : testing::Test {
  CLI::App program{"Moves water.", "sluice-gates"};
  CLI::App& gate = *program.add_subcommand("gate", "Open a gate");
  std::string value;
  bool flag = false;

  CompletionOfAProgram() {
    program.set_version_flag("--version", "1");
    gate.add_option("--speed", value)->check(CLI::IsMember({"slow", "fast"}));
    gate.add_option("-w,--way", value)->check(offers("up, down"));
    gate.add_option("--file", value);
    gate.add_flag("--all", flag);
    gate.add_flag("--secret", flag)->group("");
  }
};

TEST_F(CompletionOfAProgram, OffersCommandsFirstAndOptionsAfterADash) {
  std::string const script = bash_completion(program);
  EXPECT_THAT(script, HasSubstr("' '*) words='gate' ;;\n"));
  EXPECT_THAT(script, HasSubstr("' -'*) words='-h --help --version' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'gate -'*) words='-h --help --speed -w --way --file --all' ;;\n"));
  EXPECT_THAT(script, Not(HasSubstr("secret")));
}

TEST_F(CompletionOfAProgram, OffersTheValuesOfAnOptionOrElseNamesOfFiles) {
  std::string const script = bash_completion(program);
  EXPECT_THAT(script, HasSubstr("'gate --speed') words='slow fast' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'gate -w' | 'gate --way') words='up down' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'gate --file') return ;;\n"));
}

TEST_F(CompletionOfAProgram, IsForTheProgramByAFunctionOfItsName) {
  EXPECT_THAT(bash_completion(program), testing::EndsWith("complete -o default -F _sluice_gates sluice-gates\n"));
}

TEST(OfferedValues, AreNoneOfAnOptionThatTakesAnything) {
  CLI::App app;
  std::string value;
  CLI::Option& option = *app.add_option("--any", value)->check(CLI::ExistingFile)->check(offers(""));
  EXPECT_THAT(offered_values(option), IsEmpty());
}

TEST(OfferedValues, AreNotAllThatTheOptionTakesAndNotInItsHelp) {
  CLI::App app;
  std::string value;
  app.add_option("--some", value)->check(offers("up, down"));
  app.parse("--some sideways");
  EXPECT_EQ(value, "sideways");
  EXPECT_THAT(app.help(), Not(HasSubstr("down")));
}

TEST(OfferedValues, OfDevicesHaveEachModel) {
  for (char const* const words : {one_device_words, device_words}) {
    CLI::App app;
    std::string value;
    auto const offered = offered_values(*app.add_option("--device", value)->check(offers(words)));
    for (std::string const& model : built_in_models()) EXPECT_THAT(offered, testing::Contains("model:" + model));
  }
}

TEST(OfferedValues, OfTheAxesAreWhatTheyTake) {
  CLI::App command;
  AxisOptions axes;
  axes.add_to(command);
  for (auto const& [axis, preset] : axes.lists) {
    for (std::string const& value : offered_values(*command.get_option("--" + axis)))
      EXPECT_THAT(measure::parse_axis(axis, value).values, ElementsAre(value)) << axis;
  }
  auto const text = [&](char const* option) {
    return CLI::detail::join(offered_values(*command.get_option(option)), ", ");
  };
  EXPECT_EQ(text("--signal"), words_for(all_signal_kinds));
  EXPECT_EQ(text("--shape"), words_for(all_lane_shapes));
}

}  // namespace
}  // namespace penstock::cli
