// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <CLI/CLI.hpp>

#include "engine/machine/output_file.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/doctor/doctor_facts.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock doctor`: describes this machine, and finds what would hold a pipeline back.
struct DoctorCommand {
  std::string device = "auto";
  SlowerOption slower;
  std::string read;
  unsigned producers = 0;
  bool no_probe = false;
  std::string save_model;  ///< A file; empty for none.
  bool list_models = false;
  FigureArguments figures;
  std::string command_line;  ///< Command line as the user wrote it, for the page.

  void add_to(CLI::App& command);
  /// Describes the machine even if the probe fails; a device that cannot be opened or probed is among the remarks, and
  /// in the exit code.
  ///
  /// Blocks: about three seconds, for the probe, unless interrupted.
  /// Throws: Error, if there is no such device or file to ask for.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// Prints the list of models.
  ExitCode run_models(StandardOutput& output, FilesToWrite& files) const;
  std::unique_ptr<OpenFile> file_to_read() const;
  void probe(DoctorFacts& facts, OpenFile const* file, OutputFile* model, std::stop_token const& stop) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
