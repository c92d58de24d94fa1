// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/spread_points.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::measure {

std::vector<Levels> spread_points(std::vector<SearchAxis> const& axes, std::size_t count, std::mt19937& random) {
  std::vector<Levels> points(count, Levels(axes.size()));
  std::vector<std::size_t> parts(count);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    std::shuffle(parts.begin(), parts.end(), random);
    for (std::size_t i = 0; i < count; ++i) points[i][axis] = parts[i] * axes[axis].count / count;
  }
  return points;
}

}  // namespace penstock::measure
