// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace penstock::measure {

/// What repeated measurements of one thing came to.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;

  /// How far the measurements lie from the median, as a part of it; 0 for a single one.
  double relative() const noexcept;
};

/// Shape: at least one, in any order.
Spread spread_of(std::vector<double> values);

}  // namespace penstock::measure
