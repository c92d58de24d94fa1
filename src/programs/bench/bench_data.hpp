// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "programs/command/results.hpp"
#include "programs/measure/axis.hpp"
#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// JSON as docs/results.md describes it.
std::string as_json(BenchFacts const& facts, std::span<measure::Axis const> axes,
                    std::span<measure::PointResult const> results);
/// A line of names, and one for each point, with the machine that measured it; texts with a comma or a quote are
/// quoted.
std::string as_csv(BenchFacts const& facts, std::span<measure::Axis const> axes,
                   std::span<measure::PointResult const> results);

}  // namespace penstock::cli
