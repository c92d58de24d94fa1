// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "observe/verdict/measured_run.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Adds the figures of a recording of the run: overlap, device times of a tile, tiles in flight, the lanes' time for
/// passing on work, and the tiles' time until they were noticed. If not every tile was recorded, the recorded ones
/// represent the others; overlap is then empty, and so are the two times if passages were missed.
void add_recording(RunFigures& figures, Recording const& recording);

/// Judges by ratios only: if all times are longer by one factor, and all ceilings lower by it, the result is the same.
///
/// Threads: any.
Verdict judge(RunFigures const& figures, Ceilings const& ceilings = {});
/// True if that verdict would say that the run was too short: for its number of tiles, or to tell whether other
/// processes used the CPUs.
///
/// Threads: any.
bool too_short_to_judge(RunFigures const& figures, Ceilings const& ceilings = {});

}  // namespace penstock
