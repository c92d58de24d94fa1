// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace penstock {

/// The least of the values that a `share` of them does not exceed: with 0.5 the middle one, or the smaller of the two
/// in the middle; with 1 the greatest.
///
/// Shape: at least one, in any order, which changes; `share` from 0 to 1.
template <class Value>
Value quantile(std::span<Value> values, double share) {
  auto const rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  auto const place = values.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace penstock
