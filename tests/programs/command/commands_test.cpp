// SPDX-License-Identifier: Apache-2.0
#include "programs/command/commands.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "engine/core/say.hpp"
#include "penstock/error.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

/// A command that has a message of the library.
struct Says {
  void add_to(CLI::App&) {}
  ExitCode run(StandardOutput&, Interrupt const&) const {
    say("It is gone.");
    return exit_ok;
  }
};

/// A program with that command. The hook is afterwards as it was before.
struct AProgram : testing::Test {
  MessageHook const before = set_message_hook(&write_to_standard_error);
  ~AProgram() override { set_message_hook(before); }

  static std::string complaint() {
    Commands commands("Says something", "count", "1");
    Says says;
    commands.add("say", "Say it", "it could not be said", says);
    std::string program = "count", command = "say";
    std::array<char*, 2> arguments{program.data(), command.data()};
    testing::internal::CaptureStderr();
    EXPECT_EQ(commands.run(2, arguments.data()), exit_ok);
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(AProgram, SaysItsNameBeforeMessagesOfTheLibrary) {
  EXPECT_EQ(complaint(), message_of("It is gone."));
}

TEST_F(AProgram, LeavesAHookThatWasSet) {
  set_message_hook(nullptr);
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(set_message_hook(&write_to_standard_error), nullptr);
}

}  // namespace
}  // namespace penstock::cli
