// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "anyprogram/watch/watch_command.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/ending.hpp"
#include "programs/jobs/run_command.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `PROGRAM watch`: watches `PROGRAM run` as `penstock watch` watches any program. It has the options of both, but of
/// `run` only those on how the job runs.
class WatchedRun {
 public:
  /// `libraries` as WatchCommand has it.
  WatchedRun(Job const& job, std::string command_line, std::string libraries);

  void add_to(CLI::App& command);
  /// Blocks: until the run has ended.
  /// Throws: Error, as both; and if there is a log to read, and a job to run as well.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt);

 private:
  /// Arguments that were named, as `run` takes them.
  std::vector<std::string> settings() const;

  RunCommand asked_;  ///< The command that is run.
  WatchCommand watch_;
  std::vector<CLI::Option const*> of_run_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
