// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "course/experiment.hpp"
#include "course/workbench.hpp"
#include "penstock/flavour.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// What a small batch takes as a whole in one stream and as two halves in two, and the shortest kernel for which halves
/// are faster. Expects that they are not for a kernel of 5 us.
///
/// Blocks: until the device is idle.
/// Throws: Error, if the device fails.
Observation halves_of_small_batches(Workbench& bench);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
