// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "programs/command/ending.hpp"
#include "programs/command/help_text.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

/// A program with several commands: it reads the command line, runs one command, turns signals into an interrupt of
/// that command, and prints errors.
///
/// Threads: the main thread.
class Commands {
 public:
  /// `sentence` is the description in --help, `name` the name of the program, `version` the text of --version.
  Commands(std::string const& sentence, std::string const& name, std::string const& version);

  /// Adds a command, which is an object with `add_to(CLI::App&)` and `run(StandardOutput&, Interrupt const&)` and
  /// outlives this. `some_failed` says in its help what exit code 1 means; `examples` are command lines, as HelpText
  /// has them.
  ///
  /// Throws: CLI::OptionAlreadyAdded, if the command names an option twice.
  template <class Command>
  void add(char const* name, char const* sentence, char const* some_failed, Command& command,
           char const* examples = "") {
    CLI::App& app = *app_.add_subcommand(name, sentence);
    app.formatter(std::make_shared<HelpText>(some_failed, examples));
    command.add_to(app);
    group_options(app);
    all_.push_back({&app, [&command](auto& output, auto const& interrupt) { return command.run(output, interrupt); }});
  }
  /// Names commands that other builds of this program have, and how to get one that has them.
  void lacks(std::vector<std::string> names, std::string remedy) {
    lacking_ = std::move(names);
    remedy_ = std::move(remedy);
  }
  /// Runs the command that the arguments name.
  ///
  /// Blocks:  until it has ended.
  /// Returns: the exit code of the program.
  int run(int count, char** arguments);

 private:
  struct One {
    CLI::App* app;
    std::function<ExitCode(StandardOutput&, Interrupt const&)> run;
  };
  static int run(One const& command, StandardOutput& output);
  std::vector<One>::const_iterator asked_for() const;
  std::string shows_what_there_is(std::string const& command) const;
  std::string names() const;
  std::string no_command(std::string const& word) const;

  CLI::App app_;
  std::vector<One> all_;
  std::vector<std::string> lacking_;
  std::string remedy_;
};

/// Prints a sentence about the error on standard error.
///
/// Returns: the exit code for this error.
int complain(std::exception const& exception);

}  // namespace penstock::cli
