// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cli/exit_code.hpp"
#include "penstock/cli/pipeline_arguments.hpp"
#include "penstock/cli/progress.hpp"
#include "penstock/cli/trace_file.hpp"
#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/flow/report.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock hash`: what b3sum prints, by way of a pipeline.
struct HashCommand {
  PipelineArguments pipeline;
  TraceArguments trace;
  std::vector<std::string> paths;
  bool check = false;
  bool quiet = false;
  bool no_names = false;
  bool json = false;
  bool no_progress = false;

  /// The paths; standard input if there are none.
  std::vector<std::string> inputs() const;
  void add_to(CLI::App& command);
  /// Opens the devices and listens to ctrl-C, then does what `run_on` does.
  ///
  /// Throws: Error, if it cannot start; and as run_on.
  ExitCode run() const;
  /// Hashes on these devices, whatever `pipeline` says of them, and prints. A request of `interrupted` ends it early.
  ///
  /// Blocks: until all is hashed, or what was under way when it was interrupted.
  /// Throws: Error, if it cannot start, if a device was lost, though others went on, or if the machine broke off the
  /// run.
  ExitCode run_on(DeviceGroup const& devices, std::stop_token const& interrupted) const;

 private:
  bool write_trace_of(Recording const& recording, Report const& report, std::string const& on,
                      Progress& progress) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
