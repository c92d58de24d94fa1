// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/core/recording.hpp"
#include "penstock/device/device.hpp"
#include "penstock/flow/pipeline_options.hpp"
#include "penstock/flow/report.hpp"
#include "penstock/measure/figures.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock::measure {

/// What a verdict asks of a run that is over: `options` as its pipeline has them (Pipeline::options), `recording` of
/// this run alone, by the recorder of its options. Without ceilings `judge` then names the bound by where the time
/// went. The run counts from the first tile on: lanes were made before.
///
/// `cpus`: that the process may use; 0 if unknown.
RunFigures figures_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                      Device const& device, unsigned cpus = 0);

/// The same of a trial, in the window that counts.
///
/// Shape: `window` has what lies in the window, cut there, of every tile.
RunFigures figures_of(Trial const& trial, Recording const& window, Device const& device, unsigned cpus);

}  // namespace penstock::measure
