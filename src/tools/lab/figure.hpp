// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace penstock::lab {

/// Something measured that is told, and judged only where it is certain.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
};

/// The middle one by size, or the larger of the two in the middle.
///
/// Shape: at least one.
double median(std::vector<double> values);

}  // namespace penstock::lab
