// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/flow/pipeline_options.hpp"
#include "tools/measure/axis.hpp"
#include "tools/measure/filler.hpp"
#include "tools/measure/trial.hpp"
#include "tools/tune/landscape.hpp"
#include "tools/tune/tune.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// Pipelines on some devices: each point is as high as its throughput, or the higher the less its latency is.
///
/// What it is made of outlives it.
class PipelineLandscape final : public Landscape {
 public:
  using Clock = std::chrono::steady_clock;

  /// What a point came to on this machine.
  struct Made {
    PipelineOptions options = {};
    std::uint64_t pinned_bytes = 0;
  };

  PipelineLandscape(DeviceGroup const& devices, TuneOptions const& options, std::vector<Axis> const& axes,
                    Clock::time_point start, std::stop_token const& stop);

  /// Throws: Error, if a device is lost.
  std::optional<double> measure(Levels const& levels, Effort effort) override;
  double elapsed() const override { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool allowed(Levels const& levels) const override;
  /// Threads count first, and then memory; with them those that never sleep.
  double cost(Levels const& levels) const override;

  /// The figure of a height, as TunedPoint has it.
  double figure(double height) const noexcept { return options_.sought == Aim::throughput ? height : 1 / height; }
  /// The best figure of all that were seen; 0 if there is none.
  double best_seen() const noexcept { return highest_ > 0 ? figure(highest_) : 0; }
  /// At which latency is measured; 0 as long as no setting has worked.
  double load_tiles_per_second() const noexcept { return load_; }
  /// What it pins, if that is more than it may.
  std::optional<std::uint64_t> beyond(Levels const& levels) const;
  /// Points that are allowed.
  std::size_t combinations() const;
  /// Shape: of a point that could be measured.
  Made const& made(Levels const& levels) const { return made_.at(levels); }
  /// Why a point could not be measured; empty if it could.
  std::string error(Levels const& levels) const;

 private:
  std::optional<double> measure_throughput(Levels const& levels, Setting const& setting, TrialOptions const& trial);
  std::optional<double> measure_latency(Levels const& levels, Setting const& setting, TrialOptions const& trial);
  Setting setting_at(Levels const& levels) const { return point_at(axes_, levels).setting; }

  DeviceGroup const devices_;
  TuneOptions const& options_;
  std::vector<Axis> const& axes_;
  Clock::time_point const start_;
  std::stop_token const& stop_;
  bool const graphs_chosen_;
  std::shared_ptr<FillMemory> const fill_memory_ = std::make_shared<FillMemory>();
  double load_ = 0;
  double highest_ = 0;
  std::map<Levels, Made> made_;
  std::map<Levels, std::string> errors_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
