// SPDX-License-Identifier: Apache-2.0
// Hooks that find the bottleneck of a run, and the tile that lost its device. Target: penstock::observe.
#pragma once

#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// Makes a hook for Watching::hooks that judges each run. Report::verdict names the bottleneck and the remedy. The
/// pipeline then has a recorder of its own, which takes 8 MiB, records the first 20,000 tiles or so, and costs what
/// every recorder costs (docs/performance.md). It cannot be combined with Watching::recorder or used twice.
RunHookMaker verdicts();

/// Makes a hook for Watching::hooks that finds the tile that lost a device. After the run the tiles that the device had
/// are run again, one at a time, in a new process, and Report::attribution names the ones that fail (docs/faults.md).
/// It costs nothing while a run succeeds. A tile that does not end takes Tuning::patience once more.
///
/// `command` is the program that is started for that, and its arguments. It must reach `run` or `start` of a pipeline
/// with tiles of this shape that has such a hook; it does not continue beyond that. Empty: this program, with its
/// present arguments.
RunHookMaker attribution(std::vector<std::string> command = {});

}  // namespace penstock
