// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "anyprogram/whole_programs/in_turn.hpp"
#include "anyprogram/whole_programs/whole_comparison.hpp"
#include "anyprogram/whole_programs/whole_run.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

class TurnedProgram;
class WatchedRuns;

/// `penstock try`: compares a program as it is with the same program with per-thread default streams.
struct TryCommand {
  std::vector<std::string> words;  ///< The program and its arguments.
  InTurnArguments turns;
  unsigned rounds = 5;
  bool no_watch = false;
  FigureArguments figures;
  std::string command_line;

  void add_to(CLI::App& command);
  /// Runs the program until all rounds are done, and prints the result.
  ///
  /// Throws: Error, if it cannot be run, or nothing can be put between it and the driver.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  WholeProgram program() const;
  /// Watches one more run of each way; `ends` are those of the warm-up runs.
  void watch(WatchedRuns& watched, InTurn const& in_turn, std::array<ProgramEnd, 2> const& ends,
             Interrupt const& interrupt) const;
  /// The reason why there is nothing to compare, after the program was run once in each way; empty if there is none.
  std::string obstacle(WholeRun const& first, TurnedProgram const& looked_at, TurnedProgram const& turned,
                       WholeComparison const& compared) const;
};

}  // namespace penstock::cli
