// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/flavour.hpp"
#include "penstock/job.hpp"
#include "tools/command/arguments.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/files_to_write.hpp"
#include "tools/measure/setting.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `PROGRAM run`: runs a job once, and prints its results.
struct RunCommand {
  Job const& job;
  PipelineArguments pipeline = {};
  std::map<std::string, std::string> values = {};  ///< By option of the job; empty if the option is not named.
  bool json = false;
  TraceArguments trace = {};
  std::string command_line = {};  ///< As the user wrote it, for the results.

  void add_to(CLI::App& command);
  /// Blocks: until the input has ended.
  /// Throws: Error, if there is no such device or value, the job cannot be made, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  measure::Setting setting() const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
