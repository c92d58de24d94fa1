// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/core/recording.hpp"
#include "penstock/device/device.hpp"
#include "penstock/measure/figures.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock::measure {

/// What a verdict asks of a trial on that device: where its time went in the window that counts, by what a recording of
/// it says.
///
/// Shape: `window` has what lies in the window, cut there, of every tile.
RunFigures figures_of(Setting const& setting, Trial const& trial, Recording const& window, Device const& device,
                      unsigned cpus);

}  // namespace penstock::measure
