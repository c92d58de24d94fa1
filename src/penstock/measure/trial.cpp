// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/trial.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/measure/work_stages.hpp"
#include "penstock/report/quantile.hpp"

namespace penstock::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_seconds_for_quantiles = 10;

void expect_well(Report const& report) {
  if (!report.ok()) throw Error(ErrorKind::device_refused, describe(report));
}

/// Waits until then, or until `stop` is requested: asleep while there is time, awake for the last of it, since who
/// sleeps wakes late.
void wait_until(Clock::time_point due, std::stop_token const& stop) {
  constexpr std::chrono::microseconds awake{100};
  if (Clock::now() < due - awake) {
    std::mutex mutex;
    std::condition_variable_any nobody;
    std::unique_lock lock(mutex);
    nobody.wait_until(lock, stop, due - awake, [] { return false; });
  }
  while (Clock::now() < due && !stop.stop_requested()) {
  }
}

/// Fills tiles, and is told when one has failed.
class UntilFailed : public Source {
 public:
  explicit UntilFailed(Filler& filler) : filler_(filler) {}
  /// There is no use in more tiles.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  std::size_t fill(Tile& tile) final { return filler_.fill(tile.input()); }

 protected:
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  Filler& filler_;
  std::atomic<bool> failed_{false};
};

/// Has tiles until the meter has seen enough.
class UntilMetered final : public UntilFailed {
 public:
  UntilMetered(Filler& filler, Meter const& meter) : UntilFailed(filler), meter_(meter) {}
  bool next(Tile&) override { return !meter_.over() && !failed(); }

 private:
  Meter const& meter_;
};

/// Has a tile for each time at which one is due, and says when that was.
class WhenDue final : public UntilFailed {
 public:
  WhenDue(Filler& filler, double tiles_per_second, std::uint64_t tiles, std::stop_token const& stop)
      : UntilFailed(filler), nanoseconds_(1e9 / tiles_per_second), tiles_(tiles), stop_(stop) {}
  void start(Clock::time_point at) { start_ = at; }
  Clock::time_point due(std::uint64_t number) const {
    return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds_ * static_cast<double>(number)));
  }
  bool next(Tile& tile) override {
    if (tile.sequence >= tiles_ || failed()) return false;
    wait_until(due(tile.sequence), stop_);
    return !stop_.stop_requested();
  }

 private:
  double const nanoseconds_;
  std::uint64_t const tiles_;
  std::stop_token const& stop_;
  Clock::time_point start_;
};

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
  Pipeline pipeline(devices.all(), wanted);
  // Enough for quantiles, unless tiles are so rare, or were for a moment, that this took minutes.
  double const enough = std::min(100.0, tiles_per_second * most_seconds_for_quantiles);
  double const window = std::chrono::duration<double>(options.window).count();
  auto const total = static_cast<std::uint64_t>(std::max({1.0, enough, tiles_per_second * window}));
  std::vector<double> microseconds(total);
  WhenDue source(filler, tiles_per_second, total, stop);
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
