// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/options.hpp"
#include "programs/measure/axis.hpp"
#include "programs/measure/filler.hpp"
#include "programs/measure/setting.hpp"
#include "programs/measure/sweep.hpp"
#include "programs/measure/trial.hpp"
#include "programs/tune/contest.hpp"
#include "programs/tune/free_axes.hpp"
#include "programs/tune/tuned.hpp"

namespace penstock::measure {

struct TuneOptions {
  Aim sought = Aim::throughput;
  /// Load for latency, as a part of the throughput of the first setting that works, which mostly are the defaults.
  /// Tiles come as fast to all settings, so that a slow one does not get an easier load.
  double load = SweepOptions::usual_load;
  /// The values of every axis of a Setting to choose from, or "free".
  AxisLists lists = {};
  SearchBounds bounds = {};
  /// A setting that is known to be good, as values by axis. Its values of free axes are tried, too.
  AxisLists known = {};
  double within = 60;  ///< Seconds.
  Setting begin = {};  ///< The part that all settings share: the job, and what no list names.
};

inline namespace PENSTOCK_FLAVOUR {

/// Options of a run in a search for what is `sought`, by the effort.
///
/// `graphs_chosen`: the search chooses among several values of graphs. Settings that may capture then get time to do so
/// in all of their slots: else `never` would win because the others were measured while they captured.
TrialOptions trial_options(Effort effort, Setting const& setting, bool graphs_chosen, Aim sought = Aim::throughput);

/// Pipelines on some devices: a point's height is its throughput, or grows as its latency falls.
///
/// Shape: the arguments of the constructor outlive it.
class PipelineLandscape final : public Landscape {
 public:
  /// Properties of a point on this machine.
  struct Made {
    PipelineOptions options = {};
    std::uint64_t pinned_bytes = 0;
  };

  PipelineLandscape(DeviceGroup const& devices, TuneOptions const& options, std::vector<Axis> const& axes,
                    std::chrono::steady_clock::time_point start, std::stop_token const& stop);

  /// Throws: Error, if a device is lost.
  std::optional<double> measure(Levels const& levels, Effort effort) override;
  /// Seconds of this machine's time, also on a model.
  double elapsed() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool allowed(Levels const& levels) const override;
  /// Cost counts threads first, and then memory; among threads also those that never sleep.
  double cost(Levels const& levels) const override;

  /// The figure of a height, in the form of TunedPoint.
  double figure(double height) const noexcept { return options_.sought == Aim::throughput ? height : 1 / height; }
  /// The best figure so far; 0 if there is none.
  double best_seen() const noexcept { return highest_ > 0 ? figure(highest_) : 0; }
  /// Load at which latency is measured; 0 as long as no setting has worked.
  double load_tiles_per_second() const noexcept { return load_; }
  /// Bytes that it pins, if these are more than it may.
  std::optional<std::uint64_t> beyond(Levels const& levels) const;
  /// Points that are allowed.
  std::size_t combinations() const;
  /// Shape: of a point that could be measured.
  Made const& made(Levels const& levels) const { return made_.at(levels); }
  /// Reason why a point could not be measured; empty if it could.
  std::string error(Levels const& levels) const;
  /// For a model: says that this machine was too slow for it in some run; else empty.
  std::string const& too_slow() const noexcept { return too_slow_; }

 private:
  std::optional<double> measure_throughput(Levels const& levels, Setting const& setting, TrialOptions const& trial);
  std::optional<double> measure_latency(Levels const& levels, Setting const& setting, TrialOptions const& trial);
  Setting setting_at(Levels const& levels) const { return point_at(axes_, levels, options_.begin).setting; }

  DeviceGroup const devices_;
  TuneOptions const& options_;
  std::vector<Axis> const& axes_;
  std::chrono::steady_clock::time_point const start_;
  std::stop_token const& stop_;
  bool const graphs_chosen_;
  std::shared_ptr<FillMemory> const fill_memory_ = std::make_shared<FillMemory>();
  double load_ = 0;
  double highest_ = 0;
  std::string too_slow_;
  std::map<Levels, Made> made_;
  std::map<Levels, std::string> errors_;
};

/// Looks for the setting that moves most bytes a second through these devices, or has the least latency: docs/tune.md
/// explains how. Settings that fail are passed over, and so are those that pin more than the bounds allow.
///
/// Blocks: for `within` seconds or less.
/// Throws: Error, if a list is not valid, if there is no load, or if a device is lost.
Tuned tune(DeviceGroup const& devices, TuneOptions const& options, std::stop_token const& stop,
           std::function<void(TuneProgress const&)> const& progress = {});

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
