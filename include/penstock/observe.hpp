// SPDX-License-Identifier: Apache-2.0
// What bounded a run, and which tile lost its device. Target: penstock::observe.
#pragma once

#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// For Watching::hooks: judges each run. Report::verdict says what bounded it and what to change. The pipeline then
/// keeps a recorder of its own, which takes 8 MiB and notes some 20,000 tiles, the first ones, and costs what every
/// recorder costs (docs/performance.md). Not with Watching::recorder, nor twice.
RunHookMaker verdicts();

/// For Watching::hooks: finds the tile that lost a device. After the run the tiles that the device had are run again,
/// one at a time, in a new process, and Report::attribution says which of them fails (docs/faults.md). While a run goes
/// well it costs nothing. A tile that does not end takes Tuning::patience once more.
///
/// `command`: the program that is started for that, and its arguments. It must come to `run` or `start` of a pipeline
/// with tiles of this shape that has such a hook, and goes no further. Empty: this program, with the arguments that it
/// has.
RunHookMaker attribution(std::vector<std::string> command = {});

}  // namespace penstock
