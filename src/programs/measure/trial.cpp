// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/trial.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/too_slow.hpp"
#include "engine/plan/plan.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/lateness.hpp"
#include "programs/measure/open_loop.hpp"
#include "programs/measure/repeated_source.hpp"
#include "programs/measure/until_stopped.hpp"
#include "programs/measure/work_stages.hpp"

namespace penstock::measure {
namespace {

/// Adds the option of programs to the remedy that left_out_of(RecordLoss) has for records too long for a tile.
void name_tile_option(Report& report, PipelineOptions const& options) {
  for (LeftOut& one : report.left_out) {
    if (one.remedy == "make tiles larger")
      one.remedy += " than " + size_text(options.tile.input_bytes) + " with --tile";
  }
}

void expect_well(Report const& report) {
  if (!report.ok()) throw Error(ErrorKind::device_refused, describe(report));
}

/// Null if `stop` was requested before the pipeline was made.
///
/// Throws: as Pipeline.
std::unique_ptr<Pipeline> make_pipeline(DeviceGroup const& devices, PipelineOptions const& options,
                                        std::stop_token const& stop) {
  try {
    // The preparations of a measurement are no work of the host that is measured.
    HostTime::forget();
    auto made = std::make_unique<Pipeline>(devices, options, stop);
    HostTime::forget();
    return made;
  } catch (Error const&) {
    if (!stop.stop_requested()) throw;
    return nullptr;
  }
}

/// Has tiles until the meter has seen enough.
class UntilMetered final : public UntilFailed {
 public:
  UntilMetered(Source& input, Meter const& meter) : UntilFailed(input), meter_(meter) {}
  bool next(Tile& tile) override { return !meter_.over() && UntilFailed::next(tile); }

 private:
  Meter const& meter_;
};

/// Counts the contents of tiles that are done, before the job's own sink gets them. `items` may be empty.
///
/// Threads: any.
class Tally {
 public:
  Tally(std::function<std::uint64_t(Tile const&)> items, TileShape const& shape)
      : items_of_(std::move(items)), full_(bytes_of(shape)), input_(shape.input_bytes > 0) {}

  void count(Tile const& tile) {
    tiles_.fetch_add(1, std::memory_order_relaxed);
    std::size_t const bytes = input_ ? tile.all_filled() : full_;
    // Most tiles are full, and cost nothing here.
    if (bytes < full_) missing_.fetch_add(full_ - bytes, std::memory_order_relaxed);
    if (items_of_) items_.fetch_add(items_of_(tile), std::memory_order_relaxed);
  }
  std::uint64_t items() const { return items_.load(std::memory_order_relaxed); }
  double bytes_per_tile() const { return static_cast<double>(full_) - per_tile(missing_); }
  double items_per_tile() const { return per_tile(items_); }

 private:
  double per_tile(std::atomic<std::uint64_t> const& sum) const {
    auto const tiles = tiles_.load(std::memory_order_relaxed);
    return tiles == 0 ? 0 : static_cast<double>(sum.load(std::memory_order_relaxed)) / static_cast<double>(tiles);
  }

  std::function<std::uint64_t(Tile const&)> const items_of_;
  std::size_t const full_;
  bool const input_;
  alignas(64) std::atomic<std::uint64_t> tiles_{0};
  std::atomic<std::uint64_t> missing_{0}, items_{0};
};

/// Number of producers out of the setting's own that the load needs: idle ones would only be in the way. But at least
/// one for each device, since each producer borrows on its own node first.
unsigned producers_of(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                      JobWork const& work) {
  PipelineOptions const wanted = setting.options();
  auto const& alone = setting.its_job().alone;
  bool const fills = !alone || alone(setting.point()).fill;
  std::chrono::nanoseconds const to_fill = fills ? time_to_fill(work.source, wanted.tile) : std::chrono::nanoseconds(0);
  unsigned const enough = std::max(static_cast<unsigned>(devices.size()), producers_at(tiles_per_second, to_fill));
  if (enough == 1) return enough;
  return std::min(enough, plan(wanted, devices.all(), Topology::detect()).options.producers);
}

/// The pipeline's options for a run, from the setting, its job's work and the options.
PipelineOptions options_of(Setting const& setting, JobWork const& work, TrialOptions const& options) {
  PipelineOptions wanted = setting.options();
  wanted.host_stages = work.host_stages;
  wanted.watching.recorder = options.recorder;
  wanted.watching.ranges = options.ranges;
  return wanted;
}

/// The setting with what watches the run, so that the job's own spans (Span) reach it by JobPoint::pipeline.
Setting watched(Setting setting, StepLog* recorder, Ranges* ranges) {
  setting.pipeline.watching.recorder = recorder;
  setting.pipeline.watching.ranges = ranges;
  return setting;
}

/// Passes a tile to the job's own sink as one of its pass.
///
/// Throws: what that throws, after `source` was told.
void hand_on(JobWork const& work, RepeatedSource const& input, UntilFailed& source, Completion& done) {
  if (!work.sink) return;
  try {
    done.loan->sequence = input.place_of(done.loan->sequence);
    work.sink(done);
  } catch (...) {
    source.fail();
    throw;
  }
}

/// Does the work once, from the beginning of its input to its end.
JobRun run_work(DeviceGroup const& devices, Setting const& setting, JobWork const& work, TrialOptions const& options,
                std::stop_token const& stop) {
  PipelineOptions wanted = options_of(setting, work, options);
  if (options.recorder == nullptr) wanted.watching.hooks.push_back(verdicts());
  Pipeline pipeline(devices, wanted, stop);
  JobRun whole = run_input(pipeline, setting, work, options, stop);
  conclude(whole, work);
  return whole;
}

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

JobRun run_input(Pipeline& pipeline, Setting const& setting, JobWork const& work, TrialOptions const& options,
                 std::stop_token const& stop) {
  auto const source = work.source(pipeline.pool());
  if (source == nullptr) throw Error(ErrorKind::bad_argument, "The job made no source: JobWork::source gave none.");
  Tally tally(setting.its_job().items, pipeline.options().tile);
  auto const beside = options.beside ? options.beside(pipeline, *source, work) : nullptr;
  StopIfLost stop_if_lost(pipeline, stop);
  auto const sink = [&](Completion& done) {
    if (done.ok()) tally.count(*done.loan);
    stop_if_lost.see(done);
    if (work.sink) work.sink(done);
    if (options.moved) options.moved();
    std::string const lines = options.print && work.lines_so_far ? work.lines_so_far() : "";
    if (!lines.empty()) options.print(lines);
  };
  JobRun part{.report = pipeline.run(UntilStopped(*source, pipeline.pool(), stop), work.stages, sink),
              .options = pipeline.options()};
  part.report.stopped = stop.stop_requested();
  part.items = tally.items();
  return part;
}

void conclude(JobRun& whole, JobWork const& work) {
  if (work.digest && whole.report.ok()) whole.digest = work.digest();
  if (work.results) whole.results = work.results();
  if (work.left_out) add_left_out(whole.report.left_out, work.left_out());
  name_tile_option(whole.report, whole.options);
  if (work.remarks) std::ranges::move(work.remarks(), std::back_inserter(whole.report.remarks));
}

JobRun run_whole(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                 std::stop_token const& stop) {
  Setting const seen = watched(setting, options.recorder, options.ranges);
  return run_work(devices, setting, work_of(seen, options.memory.get(), stop), options, stop);
}

std::optional<std::uint64_t> digest_of(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                                       std::stop_token const& stop) {
  JobWork const work = measured_work_of(setting, options.memory.get(), stop, true);
  if (!work.digest) return std::nullopt;
  JobRun const whole = run_work(devices, setting, work, options, stop);
  whole.report.unread.mark_read();
  if (stop.stop_requested()) return std::nullopt;
  expect_well(whole.report);
  return whole.digest;
}

std::optional<Trial> run_trial(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                               std::stop_token const& stop) {
  Setting const seen = watched(setting, options.recorder, options.ranges);
  JobWork const work = measured_work_of(seen, options.memory.get(), stop);
  PipelineOptions const wanted = options_of(setting, work, options);
  forget_memory_peaks();
  auto const made = make_pipeline(devices, wanted, stop);
  if (made == nullptr) return std::nullopt;
  Pipeline& pipeline = *made;
  Meter meter = meter_of(pipeline.options(), options.warm_up, options.window, options.settling);
  RepeatedSource input(work.source, pipeline.pool());
  UntilMetered source(input, meter);
  Tally tally(setting.its_job().items, wanted.tile);
  Report report = pipeline.run(
      source, input.seen_by(work.stages),
      [&](Completion& done) {
        bool const ok = done.ok();
        if (ok) tally.count(*done.loan);
        hand_on(work, input, source, done);
        if (!ok) return source.fail();
        if (meter.count()) forget_lateness(devices);
      },
      stop);
  report.unread.mark_read();
  if (stop.stop_requested()) return std::nullopt;
  name_tile_option(report, wanted);
  expect_well(report);
  Trial trial{.metered = meter.metered().value_or(Metered{}), .report = report, .options = pipeline.options()};
  trial.pinned_bytes = memory_peaks().pinned;
  trial.device_bytes = memory_peaks().device;
  trial.bytes_per_tile = tally.bytes_per_tile();
  trial.items_per_tile = tally.items_per_tile();
  return trial;
}

std::optional<LoadedTrial> run_loaded_trial(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                            TrialOptions const& options, std::stop_token const& stop) {
  JobWork const work = measured_work_of(watched(setting, nullptr, options.ranges), options.memory.get(), stop);
  PipelineOptions wanted = options_of(setting, work, options);
  wanted.watching.recorder = nullptr;
  wanted.producers = producers_of(devices, setting, tiles_per_second, work);
  forget_memory_peaks();
  auto const made = make_pipeline(devices, wanted, stop);
  if (made == nullptr) return std::nullopt;
  Pipeline& pipeline = *made;
  Load load = load_at(tiles_per_second, pipeline.options(), options.warm_up, options.window);
  load.most_late = options.most_late;
  RepeatedSource input(work.source, pipeline.pool());
  OpenLoop source(input, load, stop);
  Tally contents({}, wanted.tile);
  Report report = pipeline.run(
      source, input.seen_by(work.stages),
      [&](Completion& done) {
        source.arrived(done.loan->sequence, OpenLoop::Clock::now());
        if (done.loan->sequence == load.warm_up) forget_lateness(devices);
        done.ok() ? contents.count(*done.loan) : source.fail();
        hand_on(work, input, source, done);
      },
      stop);
  report.unread.mark_read();
  if (stop.stop_requested()) return std::nullopt;
  name_tile_option(report, wanted);
  expect_well(report);
  if (auto const late = too_slow_in(report.remarks); !late.empty()) throw Error(ErrorKind::device_refused, late);
  if (!source.kept_up()) {
    throw Error(ErrorKind::device_refused,
                "It does not keep up with tiles that come each " + seconds_text(1 / tiles_per_second) + ".");
  }
  expect_contents(static_cast<double>(report.tiles_done), contents.bytes_per_tile());
  return LoadedTrial{.latency = source.latency(), .options = pipeline.options(), .pinned_bytes = memory_peaks().pinned};
}

std::optional<Latency> run_open_loop(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                     TrialOptions const& options, std::stop_token const& stop) {
  auto const trial = run_loaded_trial(devices, setting, tiles_per_second, options, stop);
  if (!trial) return std::nullopt;
  return trial->latency;
}

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock::measure
