// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "penstock/report/find_bound.hpp"
#include "penstock/report/run_figures.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// What says that this was the bound: a sentence on it, and one on everything else.
std::vector<std::string> evidence_for(Finding const& finding, RunFigures const& figures, Utilisation const& use);

}  // namespace penstock
