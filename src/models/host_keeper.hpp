// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/host_time.hpp"

namespace penstock::cpu {

/// Calls Clock::slow_down. From then on the work of host threads takes as long on the slower clock as it takes on the
/// system's: a modelled machine keeps their time, as HostTime says.
///
/// Threads: any, before other threads use the clock.
/// Throws:  as Clock::slow_down.
void slow_clock(unsigned factor);

/// Has the calling thread pay, and sleeps until then, also where the clock is not slower.
///
/// Blocks: until then.
void wait_until(Clock::time_point when) noexcept;

}  // namespace penstock::cpu
