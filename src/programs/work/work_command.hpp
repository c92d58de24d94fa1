// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/standard_output.hpp"
#include "programs/work/supervision.hpp"

namespace penstock::cli {

/// `penstock work`: keeps processes at work on a ledger, or shows what a ledger has.
struct WorkCommand {
  std::string ledger;
  std::vector<std::string> words;  ///< The program and its arguments.
  unsigned workers = 0;            ///< 0: one for each GPU, or one.
  Supervision supervision;
  bool status = false;
  FigureArguments figures;
  bool no_progress = false;

  void add_to(CLI::App& command);
  /// Throws: Error, if the ledger cannot be used or the program not be started; of kind unsupported, if this build has
  ///         no ledgers.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt);

 private:
  ExitCode show(StandardOutput& output, Interrupt const& interrupt) const;
  ExitCode work(StandardOutput& output, Interrupt const& interrupt);
};

}  // namespace penstock::cli
