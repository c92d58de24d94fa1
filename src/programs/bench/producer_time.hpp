// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// What a tile costs a producer, on average of a run.
///
/// Units: seconds of the run's clock.
struct ProducerTime {
  double fill = 0;    ///< In the source: what filling alone takes as many producers, where that was measured.
  double wait = 0;    ///< Until a tile was free.
  double beside = 0;  ///< All else: to ask the source in turn, to send the tile on, and to wait for a CPU.

  double all() const noexcept { return fill + wait + beside; }
};

/// The time of the last run's producers, without that in which they rested. Empty if no producer filled a tile there.
std::optional<ProducerTime> producer_time(measure::PointResult const& point);

/// Lines on what a tile costs a producer: for each curve of a sweep of producers that fill, with the fewest and with
/// the most of them. Empty for other sweeps.
std::string producer_time_text(std::span<measure::Axis const> axes, std::span<measure::PointResult const> results);

}  // namespace penstock::cli
