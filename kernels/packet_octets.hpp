// SPDX-License-Identifier: Apache-2.0
// Numbers within packets and captures, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"

// In a CUDA source these functions are for the GPU only.
#ifdef __CUDACC__
#define PENSTOCK_PARSES_THERE __device__
#else
#define PENSTOCK_PARSES_THERE
#endif

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

using Octets = unsigned char const*;

PENSTOCK_PARSES_THERE constexpr std::uint32_t big_half(Octets at) {
  return static_cast<std::uint32_t>(at[0]) << 8U | at[1];
}
/// A number of the capture's own, in its byte order.
PENSTOCK_PARSES_THERE constexpr std::uint32_t capture_word(Octets at, bool swapped) {
  std::uint32_t const low = static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8U;
  std::uint32_t const high = static_cast<std::uint32_t>(at[2]) | static_cast<std::uint32_t>(at[3]) << 8U;
  std::uint32_t const word = low | high << 16U;
  return swapped ? word >> 24U | (word >> 8U & 0xFF00U) | (word << 8U & 0xFF0000U) | word << 24U : word;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
