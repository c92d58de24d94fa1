// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/options.hpp"

namespace penstock {

/// How a lane gives a stage's work to its device: by what it was told, or by what its own calls took.
///
/// If it is to find out, it compares the times of some runs, after a few that do not count, with those of some launches
/// of graphs, made in few slots. It keeps the way with the lesser median. A tie goes to runs, which take no memory.
class GraphChoice {
 public:
  static constexpr unsigned warm_up = 16;  ///< Runs that do not count: the first load what they launch.
  static constexpr unsigned samples = 32;  ///< Times of each way.
  /// Captures on trial: each takes as long as some runs.
  static constexpr unsigned on_trial = 8;

  explicit GraphChoice(Graphs asked) noexcept;

  /// True if an existing graph may be launched.
  bool launches() const noexcept { return phase_ == Phase::try_launches || phase_ == Phase::launch; }
  /// True if a slot that has no graph may get one.
  bool captures() const noexcept {
    return phase_ == Phase::launch || (phase_ == Phase::try_launches && captured_ < on_trial);
  }
  /// True if it wants the times of runs, or of launches.
  bool times_runs() const noexcept { return phase_ == Phase::warm_up || phase_ == Phase::try_runs; }
  bool times_launches() const noexcept { return phase_ == Phase::try_launches; }

  /// Tells it of a slot's first capture.
  void captured() noexcept { ++captured_; }
  /// Tells it the time of a run, or of a launch; it ignores a time that it does not want.
  void ran(std::chrono::nanoseconds took) noexcept;
  void launched(std::chrono::nanoseconds took) noexcept;
  /// From here on the stage is run for each tile.
  void give_up() noexcept { phase_ = Phase::run; }

 private:
  enum class Phase : std::uint8_t { warm_up, try_runs, try_launches, run, launch };
  using Times = std::array<std::chrono::nanoseconds, samples>;
  static std::chrono::nanoseconds median(Times& times) noexcept;
  void decide() noexcept;

  Phase phase_;
  unsigned seen_ = 0;  ///< Calls of this phase.
  unsigned captured_ = 0;
  Times runs_{};
  Times launches_{};
};

}  // namespace penstock
