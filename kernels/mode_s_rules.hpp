// SPDX-License-Identifier: Apache-2.0
// What is a frame of Mode S, the same on CPU and GPU.
#pragma once

#include <cstdint>
#include <initializer_list>

// In a CUDA source the rules are the GPU's alone, apart from those for constants.
#ifdef __CUDACC__
#define PENSTOCK_RULES_THERE __device__
#else
#define PENSTOCK_RULES_THERE
#endif

namespace penstock {

/// Samples of the preamble; each bit behind it has two.
inline constexpr unsigned mode_s_preamble = 16;
inline constexpr unsigned mode_s_long_bits = 112, mode_s_short_bits = 56;

/// Of the CRC, without its highest bit.
inline constexpr std::uint32_t mode_s_generator = 0xFFF409;

/// Of each bit of a long frame what it is by the CRC alone. A short frame has those of the last bits.
struct ModeSSyndromes {
  std::uint32_t of[mode_s_long_bits] = {};
};
constexpr ModeSSyndromes make_mode_s_syndromes() {
  ModeSSyndromes all;
  std::uint32_t value = 1;
  for (unsigned bit = mode_s_long_bits; bit-- > 0;) {
    all.of[bit] = value;
    value = (value << 1U ^ ((value & 0x800000U) != 0 ? mode_s_generator : 0U)) & 0xFFFFFFU;
  }
  return all;
}

/// The power of a sample in 14 bits: ((2I - 255)^2 + (2Q - 255)^2 - 2) / 8, of which nothing is rounded off.
PENSTOCK_RULES_THERE constexpr std::uint32_t mode_s_power(std::uint32_t in_phase, std::uint32_t quadrature) {
  auto const i = static_cast<std::int32_t>(in_phase) - 128, q = static_cast<std::int32_t>(quadrature) - 128;
  return static_cast<std::uint32_t>(i * (i + 1) + q * (q + 1)) / 2;
}

/// True if a preamble begins at `p`, which are powers.
template <class Power>
PENSTOCK_RULES_THERE constexpr bool is_mode_s_preamble(Power const* p) {
  if (!(p[0] > p[1] && p[2] > p[1] && p[2] > p[3] && p[7] > p[6] && p[7] > p[8] && p[9] > p[8])) return false;
  std::uint32_t const pulses = std::uint32_t{p[0]} + p[2] + p[7] + p[9];
  return std::uint32_t{p[3]} + p[4] + p[5] + p[6] + p[11] + p[12] + p[13] + p[14] < pulses;
}

/// True if that preamble is clear.
template <class Power>
PENSTOCK_RULES_THERE constexpr bool is_clear_mode_s_preamble(Power const* p) {
  Power least = p[0];
  for (unsigned const at : {2U, 7U, 9U}) least = p[at] < least ? p[at] : least;
  for (unsigned const at : {1U, 3U, 4U, 5U, 6U, 8U, 11U, 12U, 13U, 14U}) {
    if (p[at] >= least) return false;
  }
  return true;
}

/// How many bits a frame of this format has; 0 if it is none that counts.
PENSTOCK_RULES_THERE constexpr unsigned mode_s_bits(unsigned format) {
  constexpr std::uint32_t short_ones = 1U << 0U | 1U << 4U | 1U << 5U | 1U << 11U;
  constexpr std::uint32_t long_ones = 1U << 16U | 1U << 17U | 1U << 18U | 1U << 20U | 1U << 21U;
  if ((short_ones >> format & 1U) != 0) return mode_s_short_bits;
  return (long_ones >> format & 1U) != 0 ? mode_s_long_bits : 0;
}

/// True if a frame of this format with this remainder is one.
PENSTOCK_RULES_THERE constexpr bool is_mode_s_frame(unsigned format, std::uint32_t remainder, bool clear) {
  if (format == 17 || format == 18) return remainder == 0;
  if (format == 11) return remainder == 0 || (remainder < 128 && clear);
  return clear;
}

}  // namespace penstock
