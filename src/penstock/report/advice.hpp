// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/report.hpp"
#include "penstock/report/find_bound.hpp"
#include "penstock/report/measured_run.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// The change by which stream 0 is each thread's own.
inline constexpr char const* per_thread_instead = "penstock instead of penstock-legacy";

/// The changes that should gain most, at most two, and none that gains less than a twentieth: options before changes to
/// the work, and of each kind the best first.
///
/// A gain is what the change does to the bound, but no more than what bounds next allows; where threads are added, no
/// more than the host has CPUs for.
std::vector<Advice> advice_for(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                               Utilisation const& use);

}  // namespace penstock
