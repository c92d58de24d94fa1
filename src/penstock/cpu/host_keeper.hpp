// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/core/host_time.hpp"

namespace penstock::cpu {

/// As Clock::slow_down, and from then on the work of host threads takes as long on the slower clock as it takes on the
/// system's: a modelled machine keeps their time, as HostTime says.
///
/// Threads: any, before other threads use the clock.
/// Throws:  as Clock::slow_down.
void slow_clock(unsigned factor);

}  // namespace penstock::cpu
