// SPDX-License-Identifier: Apache-2.0
#include "observe/judge.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/core/too_slow.hpp"
#include "engine/machine/host_load.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "observe/verdict/overlap.hpp"

namespace penstock {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double seconds_in(Recording const& recording, Step step) {
  std::chrono::nanoseconds sum{0};
  for (Passage const& passage : recording.passages) {
    if (passage.step == step) sum += std::chrono::nanoseconds(passage.end - passage.begin);
  }
  return seconds(sum);
}

/// Time that producers rested during `time` seconds of the run. A resting producer waits for tiles, too, but others get
/// them.
double rest_in(Report const& report, double time) {
  return report.wall.count() > 0 ? seconds(report.producers_rest) * time / seconds(report.wall) : 0;
}

/// Time from the first tile to the last, or the whole run if part of it was not recorded.
std::chrono::nanoseconds time_of(Report const& report, Recording const& recording) {
  if (recording.missed > 0 || recording.passages.empty()) return report.wall;
  std::int64_t first = recording.passages.front().begin, last = first;
  for (Passage const& passage : recording.passages) {
    first = std::min(first, passage.begin);
    last = std::max(last, passage.end);
  }
  return std::min(report.wall, std::chrono::nanoseconds(last - first));
}

/// Idle part of the time of all lanes together.
std::optional<double> idle_part(std::vector<LaneSummary> const& lanes) {
  std::chrono::nanoseconds served{0}, idle{0};
  for (LaneSummary const& lane : lanes) {
    served += lane.served;
    idle += lane.idle;
  }
  if (served.count() == 0) return std::nullopt;
  return static_cast<double>(idle.count()) / static_cast<double>(served.count());
}

/// The tiles that stayed free for most of the run, since the producers for which they are kept rested.
std::size_t reserve_that_rested(Report const& report, PipelineOptions const& options) {
  double const resting = seconds(report.producers_rest) / std::max(seconds(report.wall), 1e-9);
  bool const rested = options.producers - resting < producers_without_reserve + 0.5;
  return rested ? report.pool_reserve : 0;
}

/// True if tiles were copied only because their stage does not promise `reads_once`.
bool copies_in_vain(Report const& report, PipelineOptions const& options, Device const& device) {
  if (device.info().acts_as_gpu() || options.tuning.transport != Transport::automatic) return false;
  return std::ranges::all_of(report.lanes, [](LaneSummary const& lane) { return !lane.may_map && lane.mapped == 0; }) &&
         std::ranges::any_of(report.lanes, [](LaneSummary const& lane) { return lane.copies > 0; });
}

/// Figures of a run's parts and of an average tile.
RunFigures made_of(Report const& report, PipelineOptions const& options, Device const& device, unsigned cpus) {
  RunFigures figures;
  std::size_t const largest = options.tile.largest_part();
  figures.tile_bytes = static_cast<double>(largest);
  figures.pool_bytes = static_cast<double>(Pool::slab_bytes(options.tile, 1));
  if (report.tiles_done > 0) {
    figures.bytes_up = static_cast<double>(report.bytes_in) / static_cast<double>(report.tiles_done);
    figures.bytes_down = static_cast<double>(report.bytes_out) / static_cast<double>(report.tiles_done);
  }
  bool const pulled = report.fill.count() > 0;  // No producer fills if the application submits tiles.
  figures.to_completion = pulled && options.tuning.run_to_completion;
  figures.producers = figures.to_completion ? options.lanes : pulled ? options.producers : 0;
  figures.lanes = options.lanes;
  figures.consumers = options.consumers;
  figures.sinks = options.tuning.sink_on_lanes ? options.lanes : options.parallel_sink ? options.consumers : 1;
  figures.slots = options.tuning.slots;
  figures.batch = options.tuning.batch;
  std::size_t const gpus = device.info().acts_as_gpu() ? std::max<std::size_t>(1, report.devices.size()) : 0;
  figures.usual_batch = gpus == 0   ? 1
                        : gpus == 1 ? usual_batch(Driven::gpu, largest)
                                    : usual_batch_of_several(Pool::slab_bytes(options.tile, 1), gpus);
  figures.pool = options.tuning.tiles - reserve_that_rested(report, options);
  figures.cpus = cpus > 0 ? cpus : report.cpus;
  figures.gpu = device.info().acts_as_gpu();
  figures.shares = shared_stream(options, device.flavour(), report.devices.size());
  figures.copies_in_vain = copies_in_vain(report, options, device);
  figures.late = too_slow_in(report.remarks);
  figures.single_stream = options.tuning.shape == LaneShape::single;
  figures.signal = std::string(to_string(options.tuning.signal));
  return figures;
}

/// A modelled machine has no processor time: this machine's threads also do the work of the GPU.
void add_cpu_time(RunFigures& figures, Device const& device, double spent) {
  if (spent > 0 && !device.info().modelled) figures.cpu_time = spent;
}

/// Adds the CPU time of other processes, scaled to `time` seconds of the run.
void add_cpu_of_others(RunFigures& figures, Report const& report, Device const& device, double time) {
  if (device.info().modelled || report.wall.count() <= 0) return;
  double const part = std::min(1.0, time / seconds(report.wall));
  figures.cpu_of_others = seconds(report.cpu_of_others) * part;
  figures.cpu_not_told = seconds(HostLoad::unsure()) * part;
}

/// The lanes' part is of all their time, even if the other figures are of a window.
void add_times(RunFigures& figures, Report const& report, Recording const& recording) {
  if (auto const idle = idle_part(report.lanes)) figures.lane_idle = *idle * figures.wall * figures.lanes;
  add_recording(figures, recording);
  if (!figures.to_completion) return;
  // Lanes are never idle then, and they run the work that they enqueue: that is in the time of kernels.
  figures.lane_idle.reset();
  figures.enqueue.reset();
}

}  // namespace

SharedStream shared_stream(PipelineOptions const& options, Flavour flavour, std::size_t devices) noexcept {
  bool const in_common = flavour == Flavour::legacy && options.tuning.streams == StreamMode::thread_default &&
                         !options.tuning.run_to_completion && options.lanes > std::max<std::size_t>(devices, 1);
  if (!in_common) return SharedStream::none;
  return options.tuning.shape == LaneShape::single ? SharedStream::all : SharedStream::stage;
}

RunFigures figures_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                      Device const& device, unsigned cpus) {
  RunFigures figures = made_of(report, options, device, cpus);
  auto const time = time_of(report, recording);
  figures.wall = seconds(time);
  figures.tiles = report.tiles_done;
  figures.borrow_wait = seconds(report.borrow_wait) + rest_in(report, figures.wall);
  figures.fill = seconds(report.fill);
  figures.sink = seconds(report.sink);
  add_cpu_time(figures, device, seconds(report.cpu));
  add_cpu_of_others(figures, report, device, figures.wall);
  add_times(figures, report, recording);
  if (figures.overlap && recording.missed == 0) figures.overlap = in_a_window(*figures.overlap, time);
  return figures;
}

RunFigures figures_of(Report const& report, PipelineOptions const& options, Metered const& metered,
                      Recording const& recording, Device const& device, unsigned cpus) {
  RunFigures figures = made_of(report, options, device, cpus);
  figures.wall = metered.seconds;
  figures.tiles = static_cast<std::uint64_t>(metered.tiles);
  figures.borrow_wait = seconds_in(recording, Step::borrow) + rest_in(report, figures.wall);
  figures.fill = seconds_in(recording, Step::fill);
  figures.sink = seconds_in(recording, Step::sink);
  add_cpu_time(figures, device, metered.cpu_seconds);
  add_cpu_of_others(figures, report, device, figures.wall);
  add_times(figures, report, recording);
  return figures;
}

}  // namespace penstock
