// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/core/recording.hpp"
#include "penstock/device/flavour.hpp"
#include "penstock/measure/figures.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock::measure {

/// What a verdict asks of a trial: where its time went in the window that counts, by what a recording of it says.
///
/// Shape: `window` has what lies in the window, cut there, of every tile.
RunFigures figures_of(Setting const& setting, Trial const& trial, Recording const& window, Flavour flavour,
                      unsigned cpus);

}  // namespace penstock::measure
