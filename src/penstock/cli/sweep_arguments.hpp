// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cli/axis_options.hpp"
#include "penstock/cli/trace_file.hpp"

namespace penstock::cli {

/// What `bench` and `compare` are both asked: which points, on what, for how long, and where the results go.
struct SweepArguments {
  AxisOptions axes;
  std::string device = "auto";
  std::string file;             ///< That tiles are filled from.
  unsigned milliseconds = 200;  ///< That count of each run.
  bool json = false;
  bool csv = false;
  std::string html;          ///< Where a page of the results goes; empty for nowhere.
  std::string command_line;  ///< As the user wrote it, for the results.

  /// `presets` are lists that are other than bench's where nothing is asked for.
  void add_to(CLI::App& command, std::map<std::string, std::string> const& presets = {});
  /// The command that measures each point of `points` once, in its own process, and nothing beside it, and says as JSON
  /// what they came to; `order` as SweepOptions has it.
  std::vector<std::string> one_round(std::string const& program, AxisOptions const& points, unsigned order) const;
  /// Looks whether page and trace can be written, and would overwrite neither what is read nor each other.
  ///
  /// Throws: Error of kind bad_argument, before anything is measured for it.
  void check_files(TraceArguments const& trace) const;
};

}  // namespace penstock::cli
