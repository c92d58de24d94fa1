// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/recording.hpp"
#include "penstock/report.hpp"
#include "penstock/report/measured_run.hpp"

namespace penstock {

/// Adds what a recording of the run tells: overlap, what a tile takes of the device, tiles in flight, the lanes' time
/// for giving work to the device and the tiles' until they were noticed. Where not every tile was looked at, those that
/// were stand for the others; overlap is then left empty, and so are the two times if passages were missed.
void add_recording(RunFigures& figures, Recording const& recording);

/// Judges by ratios only: if all times are longer by one factor, and all ceilings lower, the bound is the same.
///
/// Threads: any.
Verdict judge(RunFigures const& figures, Ceilings const& ceilings = {});

}  // namespace penstock
