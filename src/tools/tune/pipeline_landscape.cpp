// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/pipeline_landscape.hpp"

#include <algorithm>
#include <exception>

#include "penstock/core/error.hpp"
#include "penstock/core/failure_text.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/core/usual_tiles.hpp"
#include "tools/tune/effort.hpp"
#include "tools/tune/free_axes.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr char const* nothing_came = "No tile came through in the time there was.";

/// As a pipeline has it, if left to itself.
std::uint64_t pinned(Setting const& setting) {
  PipelineOptions const options = setting.options();
  if (options.tiles != 0) return Pool::slab_bytes(options.tile, options.tiles);
  TileHolders const holders{.lanes = std::max(1U, options.lanes),
                            .slots = std::max(1U, options.slots),
                            .batch = options.batch,
                            .producers = std::max(1U, options.producers),
                            .consumers = std::max(1U, options.consumers),
                            .tile_bytes = Pool::slab_bytes(options.tile, 1)};
  return Pool::slab_bytes(options.tile, options.aim == Aim::latency ? few_tiles(holders) : usual_tiles(holders));
}

}  // namespace

PipelineLandscape::PipelineLandscape(DeviceGroup const& devices, TuneOptions const& options,
                                     std::vector<Axis> const& axes, Clock::time_point start,
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
  trial.file = options_.file;
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
  }
  if (auto const loss = devices_.lost()) throw *loss;
  return std::nullopt;
}

std::optional<double> PipelineLandscape::measure_throughput(Levels const& levels, Setting const& setting,
                                                            TrialOptions const& trial) {
  auto const result = run_trial(devices_, setting, trial, stop_);
  if (!result) return std::nullopt;
  made_.insert_or_assign(levels, Made{.options = result->options, .pinned_bytes = result->pinned_bytes});
  return result->metered.tiles_per_second() * static_cast<double>(setting.tile);
}

std::optional<double> PipelineLandscape::measure_latency(Levels const& levels, Setting const& setting,
                                                         TrialOptions const& trial) {
  if (load_ == 0) {
    auto const closed = run_trial(devices_, setting, trial, stop_);
    if (!closed) return std::nullopt;
    load_ = options_.load * closed->metered.tiles_per_second();
    if (load_ == 0) throw Error(ErrorKind::device_refused, nothing_came);
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
    return false;  // Such a combination is not possible.
  }
}

double PipelineLandscape::cost(Levels const& levels) const {
  Setting const setting = setting_at(levels);
  unsigned const lanes = setting.lanes_as_threads ? setting.threads : setting.lanes;
  // All lanes, one thread that waits for tiles and one that waits for results.
  unsigned const awake = setting.aim == Aim::latency ? lanes + 2 : 0;
  double const share = static_cast<double>(pinned(setting)) / static_cast<double>(options_.bounds.most_bytes + 1);
  return setting.threads + lanes + setting.consumers + awake + share;
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

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
