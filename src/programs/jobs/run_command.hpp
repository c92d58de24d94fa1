// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/flavour.hpp"
#include "penstock/job.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/results.hpp"
#include "programs/jobs/live_run.hpp"
#include "programs/measure/setting.hpp"
#include "programs/measure/trial.hpp"

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
  std::string ledger = {};                  ///< Empty: none.
  unsigned workers = 0;                     ///< Processes that share the ledger; 0: this one alone.
  std::string lease = "64MiB";              ///< The size of a part of the input, as parse_size takes it.
  bool as_worker = false;                   ///< It is one of them.
  std::vector<std::string> arguments = {};  ///< Those of the program, for workers.
  std::string config = {};                  ///< The file of options; empty for none.
  std::string command_line = {};            ///< Command line as the user wrote it, for the results.

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
  /// What was run, and where what it came to is written.
  struct Ran {
    JobPoint const& point;
    BenchFacts const& facts;
    measure::JobRun whole;
    bool is_all = false;  ///< The results are of all input, whatever was requested meanwhile.
    std::optional<Recording> recording = {};
    OutputFile* trace = nullptr;
    OutputFile* page = nullptr;
  };
  std::vector<NamedFile> named_by(bool JobOption::*kind) const;
  measure::Setting checked_setting() const;
  ExitCode run_shared(StandardOutput& output, Interrupt const& interrupt) const;
  /// Prints the results and writes the files.
  ExitCode conclude(Ran const& ran, StandardOutput& output, Interrupt const& interrupt) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
