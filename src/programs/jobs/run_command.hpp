// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/flavour.hpp"
#include "penstock/job.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/jobs/live_run.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `PROGRAM run`: runs a job once, and prints its results.
struct RunCommand {
  Job const& job;
  PipelineArguments pipeline = {};
  std::map<std::string, std::vector<std::string>> values = {};  ///< Values by option of the job; none for an option
                                                                ///< that is not named.
  FigureArguments figures = {};
  bool strict = false;  ///< Input that could not be used makes the exit code 1, too.
  TraceArguments trace = {};
  LiveArguments live = {};
  std::string config = {};        ///< The file of options; empty for none.
  std::string command_line = {};  ///< Command line as the user wrote it, for the results.

  void add_to(CLI::App& command);
  /// Adds only options on how the job runs, not on what becomes of its results.
  void add_settings_to(CLI::App& command);
  /// The setting that the job runs with.
  ///
  /// Throws: Error, if there is no such value, the profile is of another job, or the job says that it cannot run so.
  measure::Setting setting() const;
  /// The files that the run reads, and those that the job writes.
  std::vector<NamedFile> inputs() const;
  std::vector<NamedFile> outputs() const;
  /// Blocks: until the input has ended.
  /// Throws: Error, if there is no such device or value, the job cannot be made, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  std::vector<NamedFile> named_by(bool JobOption::*kind) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
