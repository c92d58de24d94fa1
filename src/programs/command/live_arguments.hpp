// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// The options for reports of a run while it goes on.
struct LiveArguments {
  double stats_every = 0;    ///< Seconds; 0: no lines.
  std::string metrics = {};  ///< An address; empty: no server.

  void add_to(CLI::App& command);
};

}  // namespace penstock::cli
