// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/figure.hpp"

#include <algorithm>

namespace penstock::lab {

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace penstock::lab
