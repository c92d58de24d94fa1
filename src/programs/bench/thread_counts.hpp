// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  double of_ideal = 1;  ///< That, divided by the ratio of the numbers of threads.
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

/// The answer of a sweep to the question how many threads.
struct EnoughThreads {
  unsigned count = 0;          ///< The fewest with nearly the most throughput.
  double of_most = 1;          ///< Their throughput, as a part of the most.
  bool more_may_help = false;  ///< They are the most that were tried, and clearly faster than the next fewer.
  std::string sentence;        ///< All that in words, with the values of other swept axes.
};

/// The answers of a sweep of one number of threads: one for the same values of all other axes, with two points or more
/// that were measured and judged.
std::vector<EnoughThreads> enough_threads(std::span<measure::Axis const> axes,
                                          std::span<measure::PointResult const> results);

}  // namespace penstock::cli
