// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cli/exit_code.hpp"
#include "penstock/cli/pipeline_arguments.hpp"

namespace penstock::cli {

/// `penstock hash`: what b3sum prints, by way of a pipeline.
struct HashCommand {
  PipelineArguments pipeline;
  std::vector<std::string> paths;
  bool check = false;
  bool quiet = false;
  bool no_names = false;
  bool json = false;
  bool no_progress = false;

  void add_to(CLI::App& command);
  /// Throws: Error, if it cannot start.
  ExitCode run() const;
};

}  // namespace penstock::cli
