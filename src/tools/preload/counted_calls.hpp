// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/preload/entry_points.hpp"
#include "tools/preload/turn_counts.hpp"

namespace penstock::preload {

/// A way to `target` that counts calls which mean a default stream. It takes any arguments, and passes them on as they
/// are.
///
/// Threads: any.
/// Returns: `target` itself, if it is not known where its stream is, or there is no room for another way.
void* counted(void* target, StreamPlace stream, Variant variant, TurnCounts& counts);

}  // namespace penstock::preload
