// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "programs/command/live_arguments.hpp"

namespace penstock::cli {

/// Processes to keep at work on a ledger.
struct Supervision {
  std::vector<std::string> command = {};  ///< [0] is a path with a slash in it.
  unsigned workers = 1;
  double patience_s = 60;
  double grace_s = 30;
  LiveArguments live = {};
  bool draws = true;  ///< A line is drawn over itself, if standard error is a terminal.
};

}  // namespace penstock::cli
