// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "penstock/machine/cpu_set.hpp"

namespace penstock {

/// The CPUs that the calling thread may run on: what taskset, cpusets and earlier bindings left it.
///
/// Throws: Error of kind system; std::bad_alloc.
CpuSet affinity_of_this_thread();

/// Lets the calling thread run on these CPUs only. An empty set changes nothing.
///
/// Returns a sentence if it could not be done, or only for some of the CPUs; the thread then runs where it still may.
/// Throws: Error of kind system, if the system does not say where the thread may run now; std::bad_alloc.
std::optional<std::string> bind_this_thread(CpuSet const& cpus);

}  // namespace penstock
