// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/tune.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "penstock/core/error.hpp"
#include "penstock/flow/pipeline.hpp"
#include "tools/tune/pipeline_landscape.hpp"
#include "tools/tune/search.hpp"

namespace penstock::measure {

inline namespace PENSTOCK_FLAVOUR {
namespace {

using Clock = std::chrono::steady_clock;

/// What the pipeline makes of a setting if left to itself; as good a guess as any where it cannot be made.
PipelineOptions resolved(DeviceGroup const& devices, Setting const& setting, std::stop_token const& stop) {
  PipelineOptions guess = setting.options();
  try {
    return Pipeline(devices.all(), guess, stop).options();
  } catch (Error const&) {
    for (unsigned* const count : {&guess.producers, &guess.lanes, &guess.consumers, &guess.slots}) {
      *count = std::max(1U, *count);
    }
    return guess;
  }
}

/// What is known to be good beside the defaults: a profile's setting, and for latency what the pipeline makes of that
/// aim.
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
    urgent.aim = Aim::latency;
    known.push_back({"aim latency", levels_of(axes, resolved(devices, urgent, stop), defaults.tile)});
  }
  return known;
}

}  // namespace

Tuned tune(DeviceGroup const& devices, TuneOptions const& options, std::stop_token const& stop,
           std::function<void(TuneProgress const&)> const& progress) {
  auto const start = Clock::now();
  if (options.sought == Aim::latency && !(options.load > 0)) {
    throw Error(ErrorKind::bad_argument, "Latency is that of tiles that come: let there be a load above 0.");
  }
  Setting const defaults = default_setting(options.lists, options.sought);
  PipelineOptions const made = resolved(devices, defaults, stop);
  Tuned tuned{.sought = options.sought};
  tuned.axes = search_axes(options.lists, made, defaults.tile, options.bounds);
  add_known(tuned.axes, options.lists, options.known);
  std::vector<SearchAxis> axes;
  for (Axis const& axis : tuned.axes) {
    axes.push_back({.count = axis.values.size(), .ordered = ordered(axis), .name = axis.name});
  }
  PipelineLandscape pipelines(devices, options, tuned.axes, start, stop);
  SearchOptions search_options{.within = options.within, .defaults = levels_of(tuned.axes, made, defaults.tile)};
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
  if (auto const loss = devices.lost()) throw *loss;  // Maybe at the very end, when nothing more was measured.
  auto const figures = [&](std::vector<double> heights) {
    for (double& one : heights) one = pipelines.figure(one);
    return heights;
  };
  for (Attempt const& attempt : found.attempts) {
    if (found.best == attempt.levels) tuned.best = tuned.tried.size();
    tuned.tried.push_back({.point = point_at(tuned.axes, attempt.levels),
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
  return tuned;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
