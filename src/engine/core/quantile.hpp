// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace penstock {

/// The least of the values that a `share` of them does not exceed: with 0.5 the middle one, or the smaller of the two
/// in the middle; with 1 the greatest.
///
/// Shape: at least one, in any order, which changes; `share` from 0 to 1.
template <class Value>
Value quantile(std::span<Value> values, double share) {
  auto const rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  auto const at = values.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The middle one by size; the mean of the two in the middle, if there are two.
///
/// Shape: at least one, in any order.
inline double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace penstock
