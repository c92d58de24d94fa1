// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/measure/figures.hpp"
#include "tools/measure/meter.hpp"

namespace penstock::measure {

/// A recorder that was full before the window closed has missed the rest of it. Lets both end where it was full: what
/// is left of the window is recorded whole, and of tiles and CPU time `metered` keeps that part.
///
/// False if nothing is left.
bool cut_to_recorded(Traced& traced, Metered& metered);

}  // namespace penstock::measure
