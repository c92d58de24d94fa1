// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace penstock {

/// The nearest half (IEEE binary16); the larger of two that are as near.
///
/// Shape: numbers that are 0 or whose size is from 2^-14 to 65504.
constexpr std::uint16_t half_of(float number) noexcept {
  auto const bits = std::bit_cast<std::uint32_t>(number);
  auto const sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  std::uint32_t const size = bits & 0x7fffffffU;
  if (size == 0) return sign;
  constexpr std::uint32_t half_step = 1U << 12, exponents = 112U << 23;
  return static_cast<std::uint16_t>(sign | (size - exponents + half_step) >> 13);
}

/// The value of a half.
///
/// Shape: as half_of.
constexpr float float_of(std::uint16_t half) noexcept {
  // The bits of a half moved to their places in a float are too small by 2^112, also for halves without a leading 1.
  auto const bits = static_cast<std::uint32_t>(half & 0x7fffU) << 13;
  float const size = std::bit_cast<float>(bits) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(half & 0x8000U) << 16);
}

}  // namespace penstock
