// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// How many of what an axis counts ran in these results: "4", "4 to 6". Empty if the axis counts nothing, or none ran.
std::string number_that_ran(measure::Axis const& axis, std::span<measure::PointResult const> results);

/// A value of an axis as it was asked for, and the number that ran in these results if that is another:
/// "0 (4 ran)".
std::string value_that_ran(measure::Axis const& axis, std::string const& value,
                           std::span<measure::PointResult const> results);

/// What more threads gained.
struct SpeedUp {
  double times = 1;     ///< Throughput, divided by that of the point with the fewest threads.
  double of_ideal = 1;  ///< Throughput of a thread, as a part of the most that one had at any of these points.
};

/// The axis of a sweep that is a number of threads, if exactly one of these is swept: producers, lanes or consumers;
/// else empty.
std::string thread_axis(std::span<measure::Axis const> axes);

/// What the threads of the swept axis gained at each point, against the point with the fewest of them and the same
/// values on all other axes. Empty for points that were not measured or not judged.
///
/// Shape: one for each result; none at all if there is no `thread_axis`.
std::vector<std::optional<SpeedUp>> speed_ups_of(std::span<measure::Axis const> axes,
                                                 std::span<measure::PointResult const> results);

/// Points of a sweep that differ in one number of threads alone.
struct ThreadCurve {
  std::string axis;   ///< The thread_axis.
  std::string place;  ///< The values of other swept axes, as "tile 64 KiB: "; empty if there are none.
  /// Those that were measured and judged, by their number of threads. They point into the results.
  std::vector<measure::PointResult const*> points = {};
  bool interrupted = false;          ///< The sweep ended before all were measured.
  std::uint64_t most_asked_for = 0;  ///< The largest number that was asked for.

  unsigned threads(measure::PointResult const& point) const;
  /// Units: tiles per second.
  static double rate(measure::PointResult const& point);
};

/// The curves of a sweep of a `thread_axis`: one for the same values of all other axes; none without such an axis.
std::vector<ThreadCurve> thread_curves(std::span<measure::Axis const> axes,
                                       std::span<measure::PointResult const> results);

}  // namespace penstock::cli
