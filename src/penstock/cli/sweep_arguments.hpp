// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/cli/axis_options.hpp"

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
};

}  // namespace penstock::cli
