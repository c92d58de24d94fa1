// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/trial.hpp"

#include <algorithm>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/flow/resolve_options.hpp"
#include "penstock/measure/open_loop.hpp"
#include "penstock/measure/settling.hpp"
#include "penstock/measure/until_failed.hpp"
#include "penstock/measure/work_stages.hpp"

namespace penstock::measure {
namespace {

void expect_well(Report const& report) {
  if (!report.ok()) throw Error(ErrorKind::device_refused, describe(report));
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
  wanted.recorder = options.recorder;
  wanted.ranges = options.ranges;
  forget_memory_peaks();
  Pipeline pipeline(devices.all(), wanted);
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

std::optional<Latency> run_open_loop(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                     TrialOptions const& options, std::stop_token const& stop) {
  Filler filler(setting, options.file, options.memory.get());
  PipelineOptions wanted = setting.options();
  wanted.ranges = options.ranges;
  wanted.producers = producers_of(devices, setting, tiles_per_second, filler);
  Pipeline pipeline(devices.all(), wanted);
  OpenLoop source(filler, load_at(tiles_per_second, pipeline.options(), options.warm_up, options.window), stop);
  Report const report = pipeline.run(
      source, work_stages(setting),
      [&](Completion const& done) {
        source.arrived(done.loan->sequence, OpenLoop::Clock::now());
        if (!done.ok()) source.fail();
      },
      stop);
  if (stop.stop_requested()) return std::nullopt;
  expect_well(report);
  return source.latency();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
