// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/flavour.hpp"
#include "tools/command/ending.hpp"
#include "tools/lab/experiment.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock lab`: experiments on the order in which a device does what it is given, each with a verdict.
struct LabCommand {
  std::vector<std::string> names;
  std::string device = "auto";
  bool list = false;
  bool json = false;
  std::string trace;  ///< Where a trace of what was seen goes; empty for nowhere.

  void add_to(CLI::App& command);
  /// Runs the experiments that were named, or all.
  ///
  /// Blocks: some tenths of a second for each.
  /// Throws: Error, if there is no such experiment or device, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  std::vector<lab::Experiment> chosen() const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
