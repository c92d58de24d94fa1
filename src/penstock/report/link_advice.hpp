// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/report/find_bound.hpp"
#include "penstock/report/offers.hpp"
#include "penstock/report/run_figures.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// What would relieve the link, which is the bound one way.
void advise_on_link(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use,
                    Offers& offers);

}  // namespace penstock
