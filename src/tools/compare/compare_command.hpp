// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/recording.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/files_to_write.hpp"
#include "tools/command/program.hpp"
#include "tools/command/progress.hpp"
#include "tools/compare/compare_programs.hpp"
#include "tools/compare/comparison.hpp"
#include "tools/compare/sweep_case.hpp"
#include "tools/measure/sweep_arguments.hpp"

namespace penstock::cli {

/// `penstock compare`: the same sweep by the programs of both flavours in turn. Of a job of the user's the first round
/// of both also checks that results are the same.
struct CompareCommand {
  std::string program = "penstock";  ///< The per-thread one; the other has "-legacy" behind its name.
  SweepArguments sweep;
  unsigned rounds = 5;
  TraceArguments trace;  ///< Of both at one point.
  std::optional<double> expected;
  CaseArguments cases;
  ProgramsToCompare programs;  ///< In place of all that.

  void add_to(CLI::App& command);
  /// Blocks: some tenths of a second for each point, round and flavour.
  /// Throws: Error, if an option is not valid, or one of the programs cannot be run or fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// What a program's `bench` says with these arguments, as JSON; whatever there is, if `interrupt` was requested. With
  /// a trace, unless its file has no name.
  ChildEnd bench(std::vector<std::string> arguments, std::string const& trace_file, Interrupt const& interrupt) const;
  /// The rounds; ends early if `interrupt` was requested, with a round less.
  void measure(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt) const;
  /// A run more of each point by each program, for what is in the data and on the page beside throughput. False if one
  /// of them could not, which is said.
  bool judge(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt) const;
  void write_trace_of(OutputFile& to, std::span<ScratchFile const> scratch, Comparison const& comparison,
                      Interrupt const& interrupt) const;
};

}  // namespace penstock::cli
