// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/lab/interval.hpp"

namespace penstock::lab {

/// Draws intervals as lines of at most `columns` characters: a line for each row in the order in which the rows first
/// appear, time to the right, and last an axis that says how long it all took.
///
/// An interval is as wide as it is long, but always seen; a label that does not fit stands beside it, if there is room.
/// What runs in one row at the same time is drawn over each other, the later one on top.
///
/// Shape: columns is at least `narrowest`, or counts as that.
std::vector<std::string> draw(std::span<Interval const> intervals, std::size_t columns);

inline constexpr std::size_t narrowest = 40;

}  // namespace penstock::lab
