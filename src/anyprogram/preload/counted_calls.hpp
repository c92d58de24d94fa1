// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "anyprogram/preload/entry_points.hpp"
#include "anyprogram/preload/turn_counts.hpp"

namespace penstock::preload {

/// A trampoline that counts calls in streams in `counts`, and jumps to `target` with the arguments unchanged.
///
/// Threads: any.
/// Blocks:  while another thread makes a trampoline.
/// Returns: `target` itself, if it is not known where its stream is, or there is no room for another trampoline.
void* counted(void* target, StreamPlace stream, Variant variant, TurnCounts& counts);

}  // namespace penstock::preload
