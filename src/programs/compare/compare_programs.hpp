// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "anyprogram/whole_programs/in_turn.hpp"
#include "programs/command/claim.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

/// `penstock compare --programs A B -- ARGUMENTS`: compares two whole programs, with the same arguments.
struct ProgramsToCompare {
  std::vector<std::string> programs;  ///< Two, or none without --programs.
  std::vector<std::string> words;     ///< Their arguments.
  InTurnArguments turns;

  /// Values of other options of `compare`.
  struct Asked {
    unsigned rounds = 5;
    FigureArguments figures = {};
    std::optional<Claim> expected = {};
    std::string command_line = {};
  };

  /// Adds its options. Among those that `command` has already, only `--repeats`, `--json`, `--csv`, `--html`,
  /// `--expect` and `--help` can be combined with `--programs`.
  void add_to(CLI::App& command);
  /// Throws: Error of kind bad_argument, if options were given that cannot be combined.
  void check() const;
  /// Runs both programs alternately, and prints how they differ.
  ///
  /// Blocks: until all rounds are done, for --within seconds at most and some more.
  /// Throws: Error, if one of the two cannot be run.
  ExitCode run(Asked const& asked, StandardOutput& output, Interrupt const& interrupt) const;

 private:
  std::vector<CLI::Option const*> others_ = {};  ///< Options that --programs cannot be combined with.
  std::vector<CLI::Option const*> mine_ = {};    ///< Options that need --programs.
};

}  // namespace penstock::cli
