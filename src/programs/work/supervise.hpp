// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "penstock/lease/workers.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/standard_output.hpp"
#include "programs/work/supervision.hpp"

namespace penstock::cli {

/// GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them; none where there are none.
std::vector<std::string> gpus_for_workers();

/// How a supervision ended.
struct SupervisionEnd {
  WorkersEnd end = WorkersEnd::over;
  WorkersSnapshot last = {};
};

/// Runs workers, each with a GPU of its own where there are some. It passes on their lines, draws a line, serves
/// metrics and tells systemd its state.
///
/// Threads: the main thread.
/// Blocks:  until no worker runs.
/// Throws:  as Workers and MetricsServer.
SupervisionEnd supervise(Ledger& ledger, Supervision const& wanted, StandardOutput& output, Interrupt const& interrupt);

}  // namespace penstock::cli
