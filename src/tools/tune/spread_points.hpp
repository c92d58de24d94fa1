// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "tools/tune/landscape.hpp"

namespace penstock::measure {

/// Points that lie anywhere, yet on each axis evenly: each axis is cut into `count` parts, and each point has a part of
/// each to itself. Some may be the same where axes are short.
std::vector<Levels> spread_points(std::vector<SearchAxis> const& axes, std::size_t count, std::mt19937& random);

}  // namespace penstock::measure
