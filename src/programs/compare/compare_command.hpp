// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/observe/recording.hpp"
#include "programs/command/claim.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/command/progress.hpp"
#include "programs/compare/compare_programs.hpp"
#include "programs/compare/comparison.hpp"
#include "programs/compare/sweep_case.hpp"
#include "programs/measure/sweep_arguments.hpp"

namespace penstock::cli {

/// `penstock compare`: runs the same sweep alternately by the programs of both flavours. For a job of the user's the
/// first round of both also checks that results are the same.
struct CompareCommand {
  std::string program = "penstock";  ///< The per-thread one; the other has "-legacy" behind its name.
  SweepArguments sweep;
  SweepArguments::ChooseFactor choose_factor = nullptr;  ///< Has to be set.
  unsigned rounds = 5;
  TraceArguments trace;  ///< The trace shows both at one point.
  std::string expected;  ///< A claim; empty if there is none.
  CaseArguments cases;
  ProgramsToCompare programs;  ///< They replace all the options above.

  void add_to(CLI::App& command);
  /// Blocks: some tenths of a second for each point, round and flavour.
  /// Throws: Error, if an option is not valid, or one of the programs cannot be run or fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// Returns this command with what suits models of GPUs, and says on standard error how long that takes.
  CompareCommand suited(std::stop_token const& stop) const;
  ExitCode compare(std::optional<Claim> const& claim, FilesToWrite& files, StandardOutput& output,
                   Interrupt const& interrupt);
  /// Throws: Error of kind bad_argument, if `expected` is no claim.
  std::optional<Claim> claim() const;
  /// Output of a program's `bench` with these arguments, as JSON; possibly partial if `interrupt` was requested. It
  /// writes a trace, unless `trace_file` is empty.
  ChildEnd bench(std::vector<std::string> arguments, std::string const& trace_file, Interrupt const& interrupt) const;
  /// Measures the rounds; ends early if `interrupt` was requested, without the last round. A first round in which a
  /// model's clock was late is measured again, if its factor can be raised.
  void measure(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt);
  /// Runs each point once more by each program, for the data beside throughput. False if one of them could not, which
  /// is reported.
  bool judge(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt) const;
  void write_trace_of(OutputFile& to, std::span<ScratchFile const> scratch, Comparison const& comparison,
                      Interrupt const& interrupt) const;

  CLI::Option const* rounds_ = nullptr;
};

}  // namespace penstock::cli
