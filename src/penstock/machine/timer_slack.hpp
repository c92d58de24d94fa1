// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// From now on the calling thread's waits that end by the clock do so within some microseconds, where the system's
/// usual slack for timers adds fifty. What the system refuses stays as it is.
///
/// Threads: the one that it is for.
/// Blocks:  never.
void make_timers_precise() noexcept;

}  // namespace penstock
