// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/command/ending.hpp"
#include "tools/command/standard_output.hpp"
#include "tools/programs/in_turn.hpp"

namespace penstock::cli {

/// `penstock compare --programs A B -- ARGUMENTS`: two programs as wholes, with the same arguments.
struct ProgramsToCompare {
  std::vector<std::string> programs;  ///< Two, or none if it is not asked for.
  std::vector<std::string> words;     ///< Their arguments.
  InTurnArguments turns;

  /// What the other options of `compare` say of it.
  struct Asked {
    unsigned rounds = 5;
    bool json = false;
    std::string html = {};
    std::optional<double> expected = {};
    std::string command_line = {};
  };

  /// Of the options that `command` has already only `--rounds`, `--json`, `--html`, `--expect` and `--help` go together
  /// with this.
  void add_to(CLI::App& command);
  /// Throws: Error of kind bad_argument, if options were given that do not go together.
  void check() const;
  /// Throws: Error, if one of both cannot be run.
  ExitCode run(Asked const& asked, StandardOutput& output, Interrupt const& interrupt) const;

 private:
  std::vector<CLI::Option const*> others_ = {};  ///< What is about something else.
  std::vector<CLI::Option const*> mine_ = {};    ///< What is about this alone.
};

}  // namespace penstock::cli
