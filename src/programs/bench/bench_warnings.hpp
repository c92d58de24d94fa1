// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "programs/measure/axis.hpp"
#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// Values of a point on the axes that are swept, as in "threads 4, tile 4 KiB"; empty if no axis is.
std::string place_text(std::span<measure::Axis const> axes, measure::Point const& point);
/// For models: the points that are not judged since a clock was late, by late_sentence.
std::string late_text(std::span<measure::Axis const> axes, std::span<measure::PointResult const> results);
/// What has to be known before a table of results is read: late_text, and a line on points that stray from run to run.
std::string warnings_text(std::span<measure::Axis const> axes, std::span<measure::PointResult const> results);

}  // namespace penstock::cli
