// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/chaos_case.hpp"

namespace penstock::simulation {

/// A scenario: threads, their variables, exceptions, locks and waits.
void run_calls(chaos::Case& the_case);
/// A scenario that hangs under nearly every seed: two threads take two mutexes in opposite order.
void run_deadlock(chaos::Case& the_case);

}  // namespace penstock::simulation
