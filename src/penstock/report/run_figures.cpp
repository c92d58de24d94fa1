// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/run_figures.hpp"

#include <algorithm>
#include <chrono>

#include "penstock/report/step_times.hpp"
#include "penstock/report/tile_ways.hpp"

namespace penstock {

std::uint64_t slots_of_all(RunFigures const& figures) {
  return std::uint64_t{std::max(figures.lanes, 1U)} * std::max(figures.slots, 1U);
}

void add_recording(RunFigures& figures, Recording const& recording) {
  Overlap const seen = overlap_of(recording);
  if (seen.speed_of_light) figures.overlap = seen;
  figures.device_times = device_times(recording);
  double const in_flight = mean_in_flight(recording);
  if (in_flight > 0) figures.in_flight = in_flight;
  if (recording.missed != 0) return;
  for (StepTimes const& times : step_times(recording)) {
    double const seconds = std::chrono::duration<double>(times.total).count() * static_cast<double>(recording.every);
    if (times.step == Step::enqueue) figures.enqueue = seconds;
    if (times.step == Step::notice) figures.notice = seconds;
  }
}

}  // namespace penstock
