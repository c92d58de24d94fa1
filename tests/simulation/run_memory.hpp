// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::simulation {

/// Remembers the program's variables as they are now, and reserves the heap of runs.
void prepare_memory() noexcept;
/// Gives the program's variables the values that `prepare_memory` saw, and empties the heap of runs.
void reset_memory() noexcept;

/// Has `new` allocate from here on in the heap of runs, whose addresses are the same in each process; or no longer. The
/// standard library chooses where threads wait by the addresses of what they wait for.
void use_heap_of_runs(bool in_use) noexcept;

}  // namespace penstock::simulation
