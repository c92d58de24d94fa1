// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/report.hpp"
#include "penstock/report/device_advice.hpp"
#include "penstock/report/find_bound.hpp"
#include "penstock/report/measured_run.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// The changes that should gain most, at most two, and none that gains less than a twentieth: options before changes to
/// the work, and of each kind the best first.
///
/// A gain is no more than any of the bounds that are known allows: twice as many threads do twice as much at most, what
/// bounds next stays, and what is done takes CPUs that other processes leave free. Where such a bound is not known that
/// would matter, as of kernels that share a stream, nothing is advised.
std::vector<Advice> advice_for(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                               Utilisation const& use);

}  // namespace penstock
