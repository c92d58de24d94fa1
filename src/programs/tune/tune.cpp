// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/tune.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "engine/core/failure_text.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/too_slow.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "observe/option_table.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"
#include "programs/measure/judged_run.hpp"
#include "programs/measure/lateness.hpp"
#include "programs/tune/free_axes.hpp"
#include "programs/tune/search.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Bytes that a pipeline pins for the setting by itself.
std::uint64_t pinned(Setting const& setting) {
  PipelineOptions const options = setting.options();
  if (options.tuning.tiles != 0) return Pool::slab_bytes(options.tile, options.tuning.tiles);
  TileHolders const holders{.lanes = std::max(1U, options.lanes),
                            .slots = std::max(1U, options.tuning.slots),
                            .batch = options.tuning.batch,
                            .producers = std::max(1U, options.producers),
                            .consumers = std::max(1U, options.consumers),
                            .tile_bytes = Pool::slab_bytes(options.tile, 1)};
  return Pool::slab_bytes(options.tile, options.aim == Aim::latency ? few_tiles(holders) : usual_tiles(holders));
}

/// The options that the pipeline derives from a setting by itself; if it cannot be made, a guess.
PipelineOptions resolved(DeviceGroup const& devices, Setting const& setting, std::stop_token const& stop) {
  PipelineOptions guess = setting.options();
  try {
    return Pipeline(devices, guess, stop).options();
  } catch (Error const&) {
    for (OptionRow const& row : option_table()) {
      // Batch and tiles are left out, which follow from the slots.
      bool const is_count = row.kind == OptionKind::count && !row.follows_from("slots");
      if (is_count && row.text(guess) == "0") row.set(guess, "1");
    }
    return guess;
  }
}

/// Starts that are known to be good beside the defaults: a profile's setting, and for latency the one that the pipeline
/// derives from that aim.
std::vector<KnownStart> known_starts(DeviceGroup const& devices, TuneOptions const& options, Setting const& defaults,
                                     std::vector<Axis> const& axes, Levels const& levels_of_defaults,
                                     std::stop_token const& stop) {
  std::vector<KnownStart> known;
  if (!options.known.empty()) {
    known.push_back({"profile", levels_of_known(axes, levels_of_defaults, options.known)});
  }
  bool const may_be_urgent = std::any_of(axes.begin(), axes.end(), [](Axis const& axis) {
    return axis.name == "aim" && std::find(axis.values.begin(), axis.values.end(), "latency") != axis.values.end();
  });
  if (options.sought == Aim::latency && may_be_urgent) {
    Setting urgent = defaults;
    urgent.pipeline.aim = Aim::latency;
    known.push_back({"aim latency", levels_of(axes, resolved(devices, urgent, stop))});
  }
  return known;
}

}  // namespace

TrialOptions trial_options(Effort effort, Setting const& setting, bool graphs_chosen, Aim sought) {
  using std::chrono::milliseconds;
  // Capturing in 512 slots takes some 24 ms a lane.
  constexpr milliseconds longest_settling{100};
  // Latency is that of a hundredth of the tiles, which is less certain than a figure of all of them.
  bool const latency = sought == Aim::latency;
  TrialOptions options{.warm_up = milliseconds(10), .window = milliseconds(latency ? 100 : 40)};
  if (effort == Effort::look) {
    options.warm_up = milliseconds(20);
    options.window = milliseconds(latency ? 300 : 120);
  }
  // A pipeline that is half a second late has a queue that grows.
  if (latency) options.most_late = milliseconds(500);
  if (graphs_chosen && setting.pipeline.tuning.graphs != Graphs::never) options.settling = longest_settling;
  return options;
}

PipelineLandscape::PipelineLandscape(DeviceGroup const& devices, TuneOptions const& options,
                                     std::vector<Axis> const& axes, std::chrono::steady_clock::time_point start,
                                     std::stop_token const& stop)
    : devices_(devices),
      options_(options),
      axes_(axes),
      start_(start),
      stop_(stop),
      graphs_chosen_(std::any_of(axes.begin(), axes.end(),
                                 [](Axis const& axis) { return axis.name == "graphs" && axis.swept(); })) {}

std::optional<double> PipelineLandscape::measure(Levels const& levels, Effort effort) {
  Setting const setting = setting_at(levels);
  TrialOptions trial = trial_options(effort, setting, graphs_chosen_, options_.sought);
  trial.memory = fill_memory_;
  try {
    auto const height = options_.sought == Aim::throughput ? measure_throughput(levels, setting, trial)
                                                           : measure_latency(levels, setting, trial);
    if (!height) return std::nullopt;
    highest_ = std::max(highest_, *height);
    if (*height > 0) return height;
    errors_[levels] = nothing_came;
  } catch (std::exception const& exception) {
    errors_[levels] = failure_text(exception);
    keep_too_slow({errors_[levels]}, too_slow_);
  }
  if (auto const loss = devices_.lost()) throw *loss;
  // No setting is known to be better than another then, and the remaining time would be wasted.
  constexpr std::size_t enough = 3;
  if (highest_ == 0 && !too_slow_.empty() && errors_.size() >= enough) {
    throw Error(ErrorKind::device_refused, "Nothing was tuned, and nothing is saved. " + too_slow_);
  }
  return std::nullopt;
}

std::optional<double> PipelineLandscape::measure_throughput(Levels const& levels, Setting const& setting,
                                                            TrialOptions const& trial) {
  auto result = run_trial(devices_, setting, trial, stop_);
  // Times with a late clock are not the model's.
  for (int turn = 1;; ++turn) {
    if (!result) return std::nullopt;
    auto const late = too_slow_in(result->report.remarks);
    if (late.empty()) break;
    if (turn == tries_on_late_clock) throw Error(ErrorKind::device_refused, late);
    result = run_trial(devices_, setting, trial, stop_);
  }
  made_.insert_or_assign(levels, Made{.options = result->options, .pinned_bytes = result->pinned_bytes});
  expect_contents(result->metered.tiles, result->bytes_per_tile);
  return result->metered.tiles_per_second() * result->bytes_per_tile;
}

std::optional<double> PipelineLandscape::measure_latency(Levels const& levels, Setting const& setting,
                                                         TrialOptions const& trial) {
  if (load_ == 0) {
    auto const closed = run_trial(devices_, setting, trial, stop_);
    if (!closed) return std::nullopt;
    expect_contents(closed->metered.tiles, closed->bytes_per_tile);
    load_ = options_.load * closed->metered.tiles_per_second();
  }
  auto const result = run_loaded_trial(devices_, setting, load_, trial, stop_);
  if (!result) return std::nullopt;
  made_.insert_or_assign(levels, Made{.options = result->options, .pinned_bytes = result->pinned_bytes});
  return 1 / result->latency.p99;
}

bool PipelineLandscape::allowed(Levels const& levels) const {
  try {
    return pinned(setting_at(levels)) <= options_.bounds.most_bytes;
  } catch (Error const&) {
    return false;  // The combination is not possible.
  }
}

double PipelineLandscape::cost(Levels const& levels) const {
  Setting const setting = setting_at(levels);
  PipelineOptions const asked = setting.options();
  // These are all lanes, one thread that waits for tiles and one that waits for results.
  unsigned const awake = asked.aim == Aim::latency ? asked.lanes + 2 : 0;
  double const share = static_cast<double>(pinned(setting)) / static_cast<double>(options_.bounds.most_bytes + 1);
  return asked.producers + asked.lanes + asked.consumers + awake + share;
}

std::optional<std::uint64_t> PipelineLandscape::beyond(Levels const& levels) const {
  if (allowed(levels)) return std::nullopt;
  return pinned(setting_at(levels));
}

std::size_t PipelineLandscape::combinations() const {
  std::size_t count = 0;
  Levels levels(axes_.size());
  for (;;) {
    if (allowed(levels)) ++count;
    std::size_t axis = 0;
    while (axis < axes_.size() && ++levels[axis] == axes_[axis].values.size()) levels[axis++] = 0;
    if (axis == axes_.size()) return count;
  }
}

std::string PipelineLandscape::error(Levels const& levels) const {
  auto const found = errors_.find(levels);
  return found == errors_.end() ? "" : found->second;
}

Tuned tune(DeviceGroup const& devices, TuneOptions const& options, std::stop_token const& stop,
           std::function<void(TuneProgress const&)> const& progress) {
  auto const start = std::chrono::steady_clock::now();
  if (options.sought == Aim::latency && !(options.load > 0)) {
    throw Error(ErrorKind::bad_argument, "Latency is that of tiles that come: let there be a load above 0.");
  }
  Setting const defaults = default_setting(options.lists, options.sought, options.begin);
  PipelineOptions const made = resolved(devices, defaults, stop);
  Tuned tuned{.sought = options.sought};
  tuned.axes = search_axes(options.lists, made, options.bounds, options.begin);
  add_known(tuned.axes, options.lists, options.known);
  std::vector<SearchAxis> axes;
  for (Axis const& axis : tuned.axes) {
    axes.push_back({.count = axis.values.size(), .ordered = ordered(axis), .name = axis.name});
  }
  PipelineLandscape pipelines(devices, options, tuned.axes, start, stop);
  SearchOptions search_options{.within = options.within, .defaults = levels_of(tuned.axes, made)};
  search_options.known = known_starts(devices, options, defaults, tuned.axes, search_options.defaults, stop);
  if (progress) {
    search_options.progress = [&](std::string const& move, Contest const& contest) {
      progress({.seconds = pipelines.elapsed(),
                .now = move,
                .points = contest.attempts().size(),
                .runs = contest.runs(),
                .sought = options.sought,
                .best = pipelines.best_seen()});
    };
  }
  Found const found = search(axes, pipelines, search_options, stop);
  if (auto const loss = devices.lost())
    throw *loss;  // A device may be lost at the very end, when nothing more was
                  // measured.
  auto const figures = [&](std::vector<double> heights) {
    for (double& one : heights) one = pipelines.figure(one);
    return heights;
  };
  for (Attempt const& attempt : found.attempts) {
    if (found.best == attempt.levels) tuned.best = tuned.tried.size();
    tuned.tried.push_back({.point = point_at(tuned.axes, attempt.levels, options.begin),
                           .found_by = attempt.found_by,
                           .figures = figures(attempt.scores),
                           .against = attempt.against,
                           .error = attempt.failed ? pipelines.error(attempt.levels) : ""});
  }
  if (found.best) {
    tuned.beyond = pipelines.beyond(*found.best);
    tuned.options = pipelines.made(*found.best).options;
    tuned.pinned_bytes = pipelines.made(*found.best).pinned_bytes;
  }
  tuned.load_tiles_per_second = pipelines.load_tiles_per_second();
  tuned.best_figures = figures(found.best_scores);
  tuned.defaults_figures = figures(found.defaults_scores);
  tuned.in_turn = found.held;
  tuned.combinations = pipelines.combinations();
  tuned.runs = found.runs;
  tuned.seconds = pipelines.elapsed();
  tuned.all = found.all;
  tuned.too_slow = pipelines.too_slow();
  return tuned;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
