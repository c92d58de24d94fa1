// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/judge.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/usual_batch.hpp"

namespace penstock::measure {
namespace {

double seconds_in(Recording const& recording, Step step) {
  std::int64_t nanoseconds = 0;
  for (Passage const& passage : recording.passages) {
    if (passage.step == step) nanoseconds += passage.end - passage.begin;
  }
  return static_cast<double>(nanoseconds) * 1e-9;
}

/// Of all lanes together, as a part of their time.
std::optional<double> idle_part(std::vector<LaneSummary> const& lanes) {
  std::chrono::nanoseconds served{0}, idle{0};
  for (LaneSummary const& lane : lanes) {
    served += lane.served;
    idle += lane.idle;
  }
  if (served.count() == 0) return std::nullopt;
  return static_cast<double>(idle.count()) / static_cast<double>(served.count());
}

}  // namespace

RunFigures figures_of(Setting const& setting, Trial const& trial, Recording const& window, Device const& device,
                      unsigned cpus) {
  PipelineOptions const& options = trial.options;
  RunFigures figures;
  figures.wall = trial.metered.seconds;
  figures.tiles = static_cast<std::uint64_t>(trial.metered.tiles);
  figures.tile_bytes = static_cast<double>(setting.tile);
  figures.bytes_up = setting.direction == Direction::out ? 0 : figures.tile_bytes;
  figures.bytes_down = setting.work == Work::hash           ? static_cast<double>(hashed_bytes)
                       : setting.direction == Direction::in ? 0
                                                            : figures.tile_bytes;
  figures.producers = options.producers;
  figures.lanes = options.lanes;
  figures.consumers = options.consumers;
  figures.sinks = options.sink_on_lanes ? options.lanes : options.parallel_sink ? options.consumers : 1;
  figures.slots = options.slots;
  figures.batch = options.batch;
  figures.usual_batch = device.info().kind == DeviceKind::cuda ? usual_batch(setting.tile) : 1;
  figures.pool = options.tiles;
  figures.cpus = cpus;
  figures.borrow_wait = seconds_in(window, Step::borrow);
  figures.fill = seconds_in(window, Step::fill);
  figures.sink = seconds_in(window, Step::sink);
  figures.cpu_time = trial.metered.cpu_seconds;
  figures.legacy = device.flavour() == Flavour::legacy;
  figures.own_streams = options.streams == StreamMode::own;
  figures.single_stream = options.shape == LaneShape::single;
  figures.signal = std::string(to_string(options.signal));
  if (auto const idle = idle_part(trial.report.lanes)) figures.lane_idle = *idle * figures.wall * figures.lanes;
  add_recording(figures, window);
  return figures;
}

}  // namespace penstock::measure
