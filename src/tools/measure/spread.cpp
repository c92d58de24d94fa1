// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/spread.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::measure {

double Spread::relative() const noexcept {
  return median > 0 ? std::max(most - median, median - least) / median : 0;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const middle = values.size() / 2;
  double const median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

}  // namespace penstock::measure
