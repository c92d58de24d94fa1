// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "observe/verdict/device_advice.hpp"
#include "observe/verdict/find_bound.hpp"
#include "observe/verdict/measured_run.hpp"
#include "observe/verdict/utilisation.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// The changes with the largest expected gain, at most two, and none below a twentieth: options before changes to the
/// work, and the best first of each kind.
///
/// A gain is limited by all known bounds: twice as many threads do at most twice as much, the next bottleneck remains,
/// and the work takes CPUs that other processes leave free. If a relevant bound is not known, such as that of kernels
/// that share a stream, there is no advice.
std::vector<Advice> advice_for(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                               Utilisation const& use);

}  // namespace penstock
