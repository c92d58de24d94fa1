// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/recording.hpp"
#include "penstock/report.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock {

/// What was seen in a window of a run.
struct Metered {
  double tiles = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  Clock::time_point opened = {};
  Clock::time_point closed = {};

  double tiles_per_second() const noexcept { return seconds > 0 ? tiles / seconds : 0; }
};

/// What several lanes of one device do in the legacy default stream, which all of them have in common; of lanes that
/// are dealt out to so many devices.
SharedStream shared_stream(PipelineOptions const& options, Flavour flavour, std::size_t devices) noexcept;

/// What a verdict asks of a run that is over: `options` as its pipeline has them (Pipeline::options), `recording` of
/// this run alone, by the recorder of its options. Without ceilings `judge` then names the bound by where the time
/// went. The run counts from the first tile on: lanes were made before.
///
/// `cpus`: that the process may use; 0 for those of the report.
RunFigures figures_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                      Device const& device, unsigned cpus = 0);

/// The same of a part of a run.
///
/// Shape: `recording` has what lies in that part, cut there, of every tile.
RunFigures figures_of(Report const& report, PipelineOptions const& options, Metered const& metered,
                      Recording const& recording, Device const& device, unsigned cpus);

}  // namespace penstock
