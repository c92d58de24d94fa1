// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "programs/command/results.hpp"
#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// Index of the point that moves most bytes, among those judged by the device's clock, or with `late_too` among all;
/// empty if none was measured.
std::optional<std::size_t> best_of(std::span<measure::PointResult const> results, bool late_too = false);

/// Number of processes that its repeats ran in.
std::size_t processes_of(measure::PointResult const& result) noexcept;

/// Throughput of the judged run as a part of the others': all its tiles were recorded, which has a cost.
///
/// Shape: of a point that was traced and measured.
double judged_part(measure::PointResult const& result);

/// A table for people: a line for each point.
std::string as_text(BenchFacts const& facts, std::span<measure::Axis const> axes,
                    std::span<measure::PointResult const> results);

}  // namespace penstock::cli
