// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// Number of measurements of each point, each in another process.
struct ApartOptions {
  unsigned least = 8;
  unsigned most = 12;
  double enough = 0.05;  ///< Points that vary by no more than this are measured only `least` times.
  /// Called after the first round if a clock was late in it, with the remark that advises the largest factor. If it
  /// returns true the round is measured again, and does not count. It may be empty.
  std::function<bool(std::string const& late)> begins_again = {};
};

/// The command that measures each of these points once, or all of them if there are none; `round` counts from 0.
using RoundCommand = std::function<std::vector<std::string>(unsigned round, std::span<std::size_t const> only)>;

/// Results of separate processes for all points.
struct Apart {
  std::vector<measure::PointResult> results;
  bool lost = false;  ///< At least one of them lost the device.
};

/// Measures points in rounds, each of which is a process. Processes vary with the places of their memory, threads and
/// streams, which no process sees by itself.
///
/// A point of a model is measured no more once the clock was late in the first two rounds.
///
/// Ends early if `stop` is requested, with the rounds that were complete.
///
/// Blocks: until the last of them has ended.
/// Throws: Error, if one of them does not run, with what it complains of.
Apart rounds_apart(std::vector<measure::Point> points, ApartOptions const& options, RoundCommand const& command,
                   std::stop_token const& stop,
                   std::function<void(unsigned round, std::size_t runs)> const& progress = {});

}  // namespace penstock::cli
