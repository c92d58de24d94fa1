// SPDX-License-Identifier: Apache-2.0
// Numbers within packets and captures, the same on CPU and GPU.
#pragma once

#include <cstdint>

// These functions are for the GPU only in a CUDA source.
#ifdef __CUDACC__
#define PENSTOCK_PARSES_THERE __device__
#else
#define PENSTOCK_PARSES_THERE
#endif

namespace penstock {

using Octets = unsigned char const*;

/// Numbers of two and four octets in the byte order of networks, the highest first.
PENSTOCK_PARSES_THERE constexpr std::uint32_t big_half(Octets at) {
  return static_cast<std::uint32_t>(at[0]) << 8U | at[1];
}
PENSTOCK_PARSES_THERE constexpr std::uint32_t big_word(Octets at) {
  return big_half(at) << 16U | big_half(at + 2);
}
/// Numbers with the lowest octet first.
PENSTOCK_PARSES_THERE constexpr std::uint32_t little_half(Octets at) {
  return static_cast<std::uint32_t>(at[1]) << 8U | at[0];
}
PENSTOCK_PARSES_THERE constexpr std::uint32_t little_word(Octets at) {
  return little_half(at + 2) << 16U | little_half(at);
}
/// A number of the capture itself, in its byte order.
PENSTOCK_PARSES_THERE constexpr std::uint32_t capture_word(Octets at, bool swapped) {
  return swapped ? big_word(at) : little_word(at);
}

/// The sum of bytes in pairs, which begin at an even place.
PENSTOCK_PARSES_THERE constexpr std::uint32_t sum_of_pairs(Octets at, std::uint32_t bytes) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k + 1 < bytes; k += 2) sum += big_half(at + k);
  if (bytes % 2 != 0) sum += static_cast<std::uint32_t>(at[bytes - 1]) << 8U;
  return sum;
}
/// True if this sum of all pairs, including the checksum, is that of a correct checksum.
PENSTOCK_PARSES_THERE constexpr bool is_right(std::uint64_t sum) {
  while (sum >> 16U != 0) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return sum == 0xFFFFU;
}

}  // namespace penstock
