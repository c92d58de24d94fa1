// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

/// The greatest integer that is not above value / by.
///
/// Shape: `by` is at least 1, and fits into 63 bits.
constexpr std::int64_t floor_divide(std::int64_t value, std::size_t by) noexcept {
  auto const divisor = static_cast<std::int64_t>(by);
  std::int64_t const towards_zero = value / divisor;
  return value % divisor < 0 ? towards_zero - 1 : towards_zero;
}

}  // namespace penstock
