// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/trial.hpp"

#include <algorithm>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/flow/resolve_options.hpp"
#include "penstock/measure/open_loop.hpp"
#include "penstock/measure/until_failed.hpp"
#include "penstock/measure/work_stages.hpp"
#include "penstock/report/quantile.hpp"

namespace penstock::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_seconds_for_quantiles = 10;

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
  Meter meter(options.warm_up, options.window);
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
  // Enough for quantiles, unless tiles are so rare, or were for a moment, that this took minutes.
  double const enough = std::min(100.0, tiles_per_second * most_seconds_for_quantiles);
  double const window = std::chrono::duration<double>(options.window).count();
  auto const total = static_cast<std::uint64_t>(std::max({1.0, enough, tiles_per_second * window}));
  std::vector<double> microseconds(total);
  OpenLoop source(filler, tiles_per_second, total, stop);
  source.start(Clock::now() + options.warm_up);
  Report const report = pipeline.run(
      source, work_stages(setting),
      [&](Completion const& done) {
        std::uint64_t const number = done.loan->sequence;
        microseconds[number] = std::chrono::duration<double, std::micro>(Clock::now() - source.due(number)).count();
        if (!done.ok()) source.fail();
      },
      stop);
  if (stop.stop_requested()) return std::nullopt;
  expect_well(report);
  return Latency{.load_tiles_per_second = tiles_per_second,
                 .p50 = quantile<double>(microseconds, 0.5),
                 .p99 = quantile<double>(microseconds, 0.99),
                 .p999 = quantile<double>(microseconds, 0.999)};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
