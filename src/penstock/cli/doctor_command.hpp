// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "penstock/cli/exit_code.hpp"

namespace penstock::cli {

/// `penstock doctor`: what this machine is, and what on it would hold a pipeline back.
struct DoctorCommand {
  std::string device = "auto";
  std::string read;
  unsigned producers = 0;
  bool no_probe = false;
  bool json = false;

  void add_to(CLI::App& command);
  /// Blocks: about three seconds, for the probe.
  /// Throws: Error, if the device cannot be opened or probed.
  ExitCode run() const;
};

}  // namespace penstock::cli
