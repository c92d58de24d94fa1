// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/lab/experiment.hpp"

namespace penstock::lab {

/// A kernel in the legacy default stream between kernels of two blocking streams.
Experiment legacy_between();
/// The same between kernels of two non-blocking streams.
Experiment legacy_beside();

/// All there are, in the order in which they teach.
std::vector<Experiment> all_experiments();

/// So many kernels may have to run at once for an experiment to go as expected.
inline constexpr unsigned kernels_at_once = 12;

}  // namespace penstock::lab
