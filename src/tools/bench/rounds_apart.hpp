// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/measure/figures.hpp"

namespace penstock::cli {

/// How often points are measured, each time in another process.
struct ApartOptions {
  unsigned least = 8;
  unsigned most = 12;
  double enough = 0.05;  ///< Points that stray no further than that are measured no more than `least` times.
};

/// The command that measures each of these points once, or all of them if there are none; `round` counts from 0.
using RoundCommand = std::function<std::vector<std::string>(unsigned round, std::span<std::size_t const> only)>;

/// What processes of their own have found out about all points.
struct Apart {
  std::vector<measure::PointResult> results;
  bool lost = false;  ///< The device, to one of them at least.
};

/// Measures points in rounds, of which each is a process: how far processes stray from each other, by where their
/// memory, threads and streams come to lie, none of them sees by itself.
///
/// Ends early if `stop` is requested, with the rounds that were through.
///
/// Blocks: until the last of them has ended.
/// Throws: Error, if one of them does not run, with what it complains of.
Apart rounds_apart(std::vector<measure::Point> points, ApartOptions const& options, RoundCommand const& command,
                   std::stop_token const& stop,
                   std::function<void(unsigned round, std::size_t runs)> const& progress = {});

}  // namespace penstock::cli
