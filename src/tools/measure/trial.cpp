// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/core/number_text.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/error.hpp"
#include "penstock/flow/judge.hpp"
#include "penstock/flow/resolve_options.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/recorder.hpp"
#include "penstock/report/passages.hpp"
#include "tools/measure/figures.hpp"
#include "tools/measure/open_loop.hpp"
#include "tools/measure/work_stages.hpp"

namespace penstock::measure {
namespace {

void expect_well(Report const& report) {
  if (!report.ok()) throw Error(ErrorKind::device_refused, describe(report));
}

/// Null if `stop` was requested before the pipeline was made.
///
/// Throws: as Pipeline.
std::unique_ptr<Pipeline> make_pipeline(DeviceGroup const& devices, PipelineOptions const& options,
                                        std::stop_token const& stop) {
  try {
    return std::make_unique<Pipeline>(devices, options, stop);
  } catch (Error const&) {
    if (!stop.stop_requested()) throw;
    return nullptr;
  }
}

/// Has tiles until the meter has seen enough.
class UntilMetered final : public UntilFailed {
 public:
  UntilMetered(Filler& filler, Meter const& meter) : UntilFailed(filler), meter_(meter) {}
  bool next(Tile&) override { return !meter_.over() && !failed(); }

 private:
  Meter const& meter_;
};

/// Of the setting's own producers as many as it takes: those that had nothing to do would only be in the way. But as
/// many as devices, since each producer borrows on its own node first.
unsigned producers_of(DeviceGroup const& devices, Setting const& setting, double tiles_per_second, Filler& filler) {
  PipelineOptions const wanted = setting.options();
  unsigned const enough = std::max(static_cast<unsigned>(devices.size()),
                                   producers_at(tiles_per_second, time_to_fill(filler, wanted.tile.input_bytes)));
  if (enough == 1) return enough;
  std::vector<std::string> remarks;
  return std::min(enough, resolve(wanted, devices.all(), Topology::detect(), remarks).producers);
}

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

std::optional<Trial> run_trial(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                               std::stop_token const& stop) {
  Filler filler(setting, options.file, options.memory.get());
  PipelineOptions wanted = setting.options();
  wanted.watching.recorder = options.recorder;
  wanted.watching.ranges = options.ranges;
  forget_memory_peaks();
  auto const made = make_pipeline(devices, wanted, stop);
  if (made == nullptr) return std::nullopt;
  Pipeline& pipeline = *made;
  Meter meter(options.warm_up, options.window, settling_tiles(pipeline.options()), options.settling);
  UntilMetered source(filler, meter);
  Report const report = pipeline.run(
      source, work_stages(setting), [&](Completion& done) { done.ok() ? meter.count() : source.fail(); }, stop);
  if (stop.stop_requested()) return std::nullopt;
  expect_well(report);
  Trial trial{.metered = meter.metered().value_or(Metered{}), .report = report, .options = pipeline.options()};
  MemoryUse const peaks = memory_peaks();
  trial.pinned_bytes = peaks.pinned;
  trial.device_bytes = peaks.device;
  return trial;
}

std::optional<LoadedTrial> run_loaded_trial(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                            TrialOptions const& options, std::stop_token const& stop) {
  Filler filler(setting, options.file, options.memory.get());
  PipelineOptions wanted = setting.options();
  wanted.watching.ranges = options.ranges;
  wanted.producers = producers_of(devices, setting, tiles_per_second, filler);
  forget_memory_peaks();
  auto const made = make_pipeline(devices, wanted, stop);
  if (made == nullptr) return std::nullopt;
  Pipeline& pipeline = *made;
  Load load = load_at(tiles_per_second, pipeline.options(), options.warm_up, options.window);
  load.most_late = options.most_late;
  OpenLoop source(filler, load, stop);
  Report const report = pipeline.run(
      source, work_stages(setting),
      [&](Completion const& done) {
        source.arrived(done.loan->sequence, OpenLoop::Clock::now());
        if (!done.ok()) source.fail();
      },
      stop);
  if (stop.stop_requested()) return std::nullopt;
  expect_well(report);
  if (!source.kept_up()) {
    throw Error(ErrorKind::device_refused,
                "It does not keep up with tiles that come each " + seconds_text(1 / tiles_per_second) + ".");
  }
  return LoadedTrial{.latency = source.latency(), .options = pipeline.options(), .pinned_bytes = memory_peaks().pinned};
}

std::optional<Latency> run_open_loop(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                     TrialOptions const& options, std::stop_token const& stop) {
  auto const trial = run_loaded_trial(devices, setting, tiles_per_second, options, stop);
  if (!trial) return std::nullopt;
  return trial->latency;
}

}  // namespace PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

std::optional<JudgedRun> judged_run(DeviceGroup const& devices, Setting const& setting, JudgedRunOptions options,
                                    std::stop_token const& stop) {
  Recorder recorder({.capacity = options.room});
  TrialOptions& wanted = options.trial;
  wanted.warm_up = std::min<std::chrono::nanoseconds>(wanted.warm_up, std::chrono::milliseconds(20));
  wanted.window = std::min<std::chrono::nanoseconds>(wanted.window, std::chrono::milliseconds(50));
  wanted.recorder = &recorder;
  auto trial = run_trial(devices, setting, wanted, stop);
  if (!trial || trial->metered.tiles <= 0) return std::nullopt;
  Traced traced{.recording = recorder.take(),
                .opened = recorder.since_start(trial->metered.opened),
                .closed = recorder.since_start(trial->metered.closed),
                .tiles_per_second = trial->metered.tiles_per_second()};
  if (!cut_to_recorded(traced, trial->metered))
    throw Error(ErrorKind::bad_argument, "More was to be recorded than there is room for.");
  Recording window = within(traced.recording, traced.opened, traced.closed);
  window.missed = 0;  // What was, came later.
  Verdict verdict =
      judge(figures_of(trial->report, trial->options, trial->metered, window, devices.front(), options.cpus),
            ceilings_of(trial->report, options.ceilings));
  return JudgedRun{std::move(traced), std::move(verdict)};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void write_traced_run(TraceArguments const& trace, OutputFile& file, TraceFacts const& about, DeviceGroup const& on,
                      measure::Setting const& setting, measure::TrialOptions options, std::stop_token const& stop) {
  // The user looks at a trace to see tiles, and not a quarter of a second of them.
  options.warm_up = std::min<std::chrono::nanoseconds>(options.warm_up, std::chrono::milliseconds(20));
  options.window = std::min<std::chrono::nanoseconds>(options.window, std::chrono::milliseconds(50));
  auto const recorder = trace.recorder();
  options.recorder = recorder.get();
  auto const activities = trace.activity_log(recorder.get());
  if (activities != nullptr) options.ranges = activities.get();
  auto const trial = run_trial(on, setting, options, stop);
  if (!trial) return;
  if (activities != nullptr) activities->finish();
  Recording const recording = recorder->take();
  write_trace_file(file, recording, about);
  std::fprintf(stderr, "penstock: %s\n", traced_text(trace.file, recording, trial->report.wall).c_str());
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
