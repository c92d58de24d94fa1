// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "observe/verdict/run_figures.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Measurements in a window of a run.
struct Metered {
  double tiles = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  Clock::time_point opened = {};
  Clock::time_point closed = {};

  double tiles_per_second() const noexcept { return seconds > 0 ? tiles / seconds : 0; }
};

/// The work that several lanes of one device do in the legacy default stream, which they share; the lanes are
/// distributed over `devices` devices.
SharedStream shared_stream(PipelineOptions const& options, Flavour flavour, std::size_t devices) noexcept;

/// Figures of a finished run for a verdict: `options` are those of its pipeline (Pipeline::options), `recording` is of
/// this run alone, by the recorder of its options. Without ceilings `judge` then finds the bottleneck by times alone.
/// The run counts from the first tile on: lanes were made before.
///
/// `cpus` is the number that the process may use; 0: that of the report.
RunFigures figures_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                      Device const& device, unsigned cpus = 0);

/// Figures of a part of a run.
///
/// Shape: `recording` has the passages of every tile in that part, cut at its ends.
RunFigures figures_of(Report const& report, PipelineOptions const& options, Metered const& metered,
                      Recording const& recording, Device const& device, unsigned cpus);

}  // namespace penstock
