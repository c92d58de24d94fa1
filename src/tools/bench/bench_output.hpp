// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/command/results.hpp"
#include "tools/measure/figures.hpp"

namespace penstock::cli {

/// Where a point stands on the axes that are swept, as in "threads 4, tile 4 KiB"; empty if none is.
std::string place_text(std::span<measure::Axis const> axes, measure::Point const& point);

/// Which point moves most bytes, of those that are judged by the device's clock, or of `late_too`; empty if none was
/// measured.
std::optional<std::size_t> best_of(std::span<measure::PointResult const> results, bool late_too = false);

/// In how many processes its repeats were.
std::size_t processes_of(measure::PointResult const& result) noexcept;

/// What the run that was judged came to, of the others' throughput: all its tiles were recorded, which costs something.
///
/// Shape: of a point that was traced and measured.
double judged_part(measure::PointResult const& result);

/// A table for people: a line for each point.
std::string as_text(BenchFacts const& facts, std::span<measure::Axis const> axes,
                    std::span<measure::PointResult const> results);

}  // namespace penstock::cli
