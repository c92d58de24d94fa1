// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/tune.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "penstock/core/error.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/core/usual_tiles.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/measure/effort.hpp"
#include "penstock/measure/search.hpp"
#include "penstock/measure/trial.hpp"

namespace penstock::measure {

inline namespace PENSTOCK_FLAVOUR {
namespace {

using Clock = std::chrono::steady_clock;

/// Pipelines on the devices.
class Machine final : public Landscape {
 public:
  Machine(DeviceGroup const& devices, TuneOptions const& options, std::vector<Axis> const& axes,
          Clock::time_point start, std::stop_token const& stop)
      : devices_(devices),
        options_(options),
        axes_(axes),
        start_(start),
        stop_(stop),
        graphs_chosen_(std::any_of(axes.begin(), axes.end(),
                                   [](Axis const& axis) { return axis.name == "graphs" && axis.swept(); })) {}

  std::optional<double> measure(Levels const& levels, Effort effort) override {
    Point const point = point_at(axes_, levels);
    TrialOptions trial = trial_options(effort, point.setting, graphs_chosen_);
    trial.file = options_.file;
    trial.memory = fill_memory_;
    try {
      auto const result = run_trial(devices_, point.setting, trial, stop_);
      if (!result) return std::nullopt;
      double const rate = result->metered.tiles_per_second() * static_cast<double>(point.setting.tile);
      best_seen_ = std::max(best_seen_, rate);
      if (rate > 0) {
        trials_.insert_or_assign(levels, *result);
        return rate;
      }
      errors_[levels] = "No tile came through in the time there was.";
    } catch (std::exception const& exception) {
      errors_[levels] = exception.what();
    }
    if (auto const loss = devices_.lost()) throw *loss;
    return std::nullopt;
  }
  double elapsed() const override { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool allowed(Levels const& levels) const override {
    try {
      return pinned(point_at(axes_, levels).setting) <= options_.bounds.most_bytes;
    } catch (Error const&) {
      return false;  // Such a combination cannot be.
    }
  }
  std::optional<std::uint64_t> beyond(Levels const& levels) const {
    if (allowed(levels)) return std::nullopt;
    return pinned(point_at(axes_, levels).setting);
  }
  /// Threads count first, and then memory.
  double cost(Levels const& levels) const override {
    Setting const setting = point_at(axes_, levels).setting;
    unsigned const lanes = setting.lanes_as_threads ? setting.threads : setting.lanes;
    double const share = static_cast<double>(pinned(setting)) / static_cast<double>(options_.bounds.most_bytes + 1);
    return setting.threads + lanes + setting.consumers + share;
  }

  std::size_t combinations() const {
    std::size_t count = 0;
    Levels levels(axes_.size());
    for (;;) {
      if (allowed(levels)) ++count;
      std::size_t axis = 0;
      while (axis < axes_.size() && ++levels[axis] == axes_[axis].values.size()) levels[axis++] = 0;
      if (axis == axes_.size()) return count;
    }
  }
  double best_seen() const noexcept { return best_seen_; }
  Trial const& trial(Levels const& levels) const { return trials_.at(levels); }
  std::string error(Levels const& levels) const {
    auto const found = errors_.find(levels);
    return found == errors_.end() ? "" : found->second;
  }

 private:
  /// As a pipeline has it, if left to itself.
  static std::uint64_t pinned(Setting const& setting) {
    PipelineOptions const options = setting.options();
    if (options.tiles != 0) return Pool::slab_bytes(options.tile, options.tiles);
    std::size_t const tiles = usual_tiles({.lanes = options.lanes,
                                           .slots = std::max(1U, options.slots),
                                           .batch = options.batch,
                                           .producers = options.producers,
                                           .consumers = std::max(1U, options.consumers),
                                           .tile_bytes = Pool::slab_bytes(options.tile, 1)});
    return Pool::slab_bytes(options.tile, tiles);
  }

  DeviceGroup const devices_;
  TuneOptions const& options_;
  std::vector<Axis> const& axes_;
  Clock::time_point const start_;
  std::stop_token const& stop_;
  bool const graphs_chosen_;
  std::shared_ptr<FillMemory> const fill_memory_ = std::make_shared<FillMemory>();
  double best_seen_ = 0;
  std::map<Levels, Trial> trials_;
  std::map<Levels, std::string> errors_;
};

/// What the pipeline makes of a setting if left to itself; as good a guess as any where it cannot be made.
PipelineOptions resolved(DeviceGroup const& devices, Setting const& setting) {
  PipelineOptions guess = setting.options();
  try {
    return Pipeline(devices.all(), guess).options();
  } catch (Error const&) {
    for (unsigned* const count : {&guess.producers, &guess.lanes, &guess.consumers, &guess.slots}) {
      *count = std::max(1U, *count);
    }
    return guess;
  }
}

}  // namespace

Tuned tune(DeviceGroup const& devices, TuneOptions const& options, std::stop_token const& stop,
           std::function<void(TuneProgress const&)> const& progress) {
  auto const start = Clock::now();
  Setting const defaults = default_setting(options.lists);
  PipelineOptions const made = resolved(devices, defaults);
  Tuned tuned;
  tuned.axes = search_axes(options.lists, made, defaults.tile, options.bounds);
  add_known(tuned.axes, options.lists, options.known);
  std::vector<SearchAxis> axes;
  for (Axis const& axis : tuned.axes) {
    axes.push_back({.count = axis.values.size(), .ordered = ordered(axis), .name = axis.name});
  }
  Machine machine(devices, options, tuned.axes, start, stop);
  SearchOptions search_options{.within = options.within, .defaults = levels_of(tuned.axes, made, defaults.tile)};
  if (!options.known.empty())
    search_options.known.push_back(levels_of_known(tuned.axes, search_options.defaults, options.known));
  if (progress) {
    search_options.progress = [&](std::string const& move, Contest const& contest) {
      progress({.seconds = machine.elapsed(),
                .now = move,
                .points = contest.attempts().size(),
                .runs = contest.runs(),
                .best = machine.best_seen()});
    };
  }
  Found const found = search(axes, machine, search_options, stop);
  if (auto const loss = devices.lost()) throw *loss;  // Maybe at the very end, when nothing more was measured.
  for (Attempt const& attempt : found.attempts) {
    if (found.best == attempt.levels) tuned.best = tuned.tried.size();
    tuned.tried.push_back({.point = point_at(tuned.axes, attempt.levels),
                           .found_by = attempt.found_by,
                           .bytes_per_second = attempt.scores,
                           .against = attempt.against,
                           .error = attempt.failed ? machine.error(attempt.levels) : ""});
  }
  if (found.best) {
    tuned.beyond = machine.beyond(*found.best);
    tuned.options = machine.trial(*found.best).options;
    tuned.pinned_bytes = machine.trial(*found.best).pinned_bytes;
  }
  tuned.best_rates = found.best_scores;
  tuned.defaults_rates = found.defaults_scores;
  tuned.in_turn = found.held;
  tuned.combinations = machine.combinations();
  tuned.runs = found.runs;
  tuned.seconds = machine.elapsed();
  tuned.all = found.all;
  return tuned;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
