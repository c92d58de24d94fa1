// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/trial.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/machine/bound_thread.hpp"
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

/// Fills tiles until the meter has seen enough.
class UntilMetered final : public Source {
 public:
  UntilMetered(Filler& filler, Meter const& meter) : filler_(filler), meter_(meter) {}
  bool next(Tile&) override { return !meter_.over() && !failed_.load(std::memory_order_relaxed); }
  /// There is no use in more tiles.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  std::size_t fill(Tile& tile) override { return filler_.fill(tile.input()); }

 private:
  Filler& filler_;
  Meter const& meter_;
  std::atomic<bool> failed_{false};
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
  std::vector<std::int64_t> took;
  Clock::time_point start;
  auto const due_at = [&](std::uint64_t number) {
    return start +
           std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(number) / tiles_per_second));
  };
  PipelineOptions wanted = setting.options();
  wanted.ranges = options.ranges;
  // It goes before what its sink writes to.
  Pipeline pipeline(devices.all(), wanted);
  unsigned const threads = std::max(1U, pipeline.options().producers);
  // Enough for quantiles, unless tiles are so rare, or were for a moment, that this took minutes.
  double const enough = std::min(100.0, tiles_per_second * most_seconds_for_quantiles);
  double const window = std::chrono::duration<double>(options.window).count();
  auto const total = static_cast<std::uint64_t>(std::max({1.0, enough, tiles_per_second * window}));
  took.resize(total);
  start = Clock::now() + options.warm_up;
  pipeline.start(work_stages(setting),
                 [&](Completion& done) { took[done.loan->tag] = (Clock::now() - due_at(done.loan->tag)).count(); });
  std::atomic<std::uint64_t> next{0};
  auto const push = [&](std::stop_token const&) {
    try {
      for (;;) {
        std::uint64_t const number = next.fetch_add(1, std::memory_order_relaxed);
        if (number >= total || stop.stop_requested()) return;
        wait_until(due_at(number), stop);
        auto loan = pipeline.feed().borrow(stop);
        if (!loan) return;
        (*loan)->filled = filler.fill((*loan)->input());
        (*loan)->tag = number;
        pipeline.feed().submit(std::move(*loan));
      }
    } catch (...) {
      next.store(total, std::memory_order_relaxed);  // The others need not go on.
      throw;
    }
  };
  std::vector<BoundThread> sessions;
  for (unsigned thread = 0; thread < threads; ++thread) {
    sessions.emplace_back("ps-load-" + std::to_string(thread), CpuSet{}, push);
  }
  join_all(sessions);
  Report const report = pipeline.drain();
  if (stop.stop_requested()) return std::nullopt;
  expect_well(report);
  std::vector<double> microseconds;
  microseconds.reserve(took.size());
  for (std::int64_t const nanoseconds : took) microseconds.push_back(static_cast<double>(nanoseconds) / 1e3);
  return Latency{.load_tiles_per_second = tiles_per_second,
                 .p50 = quantile<double>(microseconds, 0.5),
                 .p99 = quantile<double>(microseconds, 0.99),
                 .p999 = quantile<double>(microseconds, 0.999)};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
