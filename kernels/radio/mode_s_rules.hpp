// SPDX-License-Identifier: Apache-2.0
// Rules for frames of Mode S, the same on CPU and GPU.
#pragma once

#include <cstdint>
#include <initializer_list>

// These rules are for the GPU only in a CUDA source, apart from those for constants.
#ifdef __CUDACC__
#define PENSTOCK_RULES_THERE __device__
#else
#define PENSTOCK_RULES_THERE
#endif

namespace penstock {

/// Samples of the preamble; each bit behind it has two.
inline constexpr unsigned mode_s_preamble = 16;
inline constexpr unsigned mode_s_long_bits = 112, mode_s_short_bits = 56;

/// Generator of the CRC, without its highest bit.
inline constexpr std::uint32_t mode_s_generator = 0xFFF409;

/// Codes of interrogators are below this number: their labels are 0 to 4, of 16 codes each.
///
/// Source: ICAO Annex 10, volume IV, 3.1.2.3.3.2.
inline constexpr std::uint32_t mode_s_interrogators = 80;

/// CRC syndrome of each bit of a long frame. A short frame has those of the last bits.
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

/// The power of a sample in 14 bits: ((2I - 255)^2 + (2Q - 255)^2 - 2) / 8, without rounding.
PENSTOCK_RULES_THERE constexpr std::uint32_t mode_s_power(std::uint32_t in_phase, std::uint32_t quadrature) {
  auto const i = static_cast<std::int32_t>(in_phase) - 128, q = static_cast<std::int32_t>(quadrature) - 128;
  return static_cast<std::uint32_t>(i * (i + 1) + q * (q + 1)) / 2;
}

/// True if a preamble begins at `p`, which points to powers.
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

/// Number of bits of a frame of this format; 0 if such frames do not count.
PENSTOCK_RULES_THERE constexpr unsigned mode_s_bits(unsigned format) {
  constexpr std::uint32_t short_ones = 1U << 0U | 1U << 4U | 1U << 5U | 1U << 11U;
  constexpr std::uint32_t long_ones = 1U << 16U | 1U << 17U | 1U << 18U | 1U << 20U | 1U << 21U;
  if ((short_ones >> format & 1U) != 0) return mode_s_short_bits;
  return (long_ones >> format & 1U) != 0 ? mode_s_long_bits : 0;
}

/// True if bits of this format with this remainder are a frame.
PENSTOCK_RULES_THERE constexpr bool is_mode_s_frame(unsigned format, std::uint32_t remainder, bool clear) {
  if (format == 17 || format == 18) return remainder == 0;
  if (format == 11) return remainder == 0 || (remainder < mode_s_interrogators && clear);
  return clear;
}

/// Evidence of two powers for each bit of a frame that begins off the samples: a part of each pulse is in the sample
/// beside it. The first sample of a bit has more than half of the second's power, or more than double of it; it is
/// lower with a pulse on one side, and higher with one on the other.
///
/// Two words of 56 bits, the first bit the lowest. A sure bit is a likely one.
struct ModeSGuess {
  std::uint64_t likely[2] = {}, sure[2] = {};
};
struct ModeSWords {
  std::uint64_t of[2] = {};
};

template <class Power>
PENSTOCK_RULES_THERE constexpr bool is_likely_mode_s_bit(Power first, Power second) {
  return 2 * std::uint32_t{first} > second;
}
template <class Power>
PENSTOCK_RULES_THERE constexpr bool is_sure_mode_s_bit(Power first, Power second) {
  return first > 2 * std::uint32_t{second};
}

/// Resolves bits: a bit is 1 if it is sure, or if it is likely and the one below is 1. For the lowest bit the one below
/// is `below`, which gets the highest one.
PENSTOCK_RULES_THERE constexpr std::uint64_t mode_s_resolved(std::uint64_t likely, std::uint64_t sure, bool& below) {
  // A sum carries in this way: a place with two ones generates a carry, and a place with one passes it on.
  std::uint64_t const sum = likely + sure + (below ? 1U : 0U), carried = (sum ^ likely ^ sure) >> 1U;
  below = (carried >> (mode_s_short_bits - 1) & 1U) != 0;
  return carried;
}

/// Reverses the order of 56 bits.
PENSTOCK_RULES_THERE constexpr std::uint64_t mode_s_reversed(std::uint64_t word) {
  constexpr std::uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                     0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
  unsigned distance = 1;
  for (std::uint64_t const mask : masks) {
    word = (word >> distance & mask) | (word & mask) << distance;
    distance *= 2;
  }
  return word >> 8U;
}

/// The bits of a frame that begins behind its first sample: what is in front of a bit decides. In front of the first
/// bit there is no pulse, as behind a 1.
PENSTOCK_RULES_THERE constexpr ModeSWords late_mode_s_bits(ModeSGuess const& guess) {
  bool below = true;
  ModeSWords words;
  for (unsigned k = 0; k < 2; ++k) words.of[k] = mode_s_resolved(guess.likely[k], guess.sure[k], below);
  return words;
}
/// The bits of a frame that begins in front of its first sample: what is behind a bit decides. No pulse follows the
/// last bit, as in front of a 0.
PENSTOCK_RULES_THERE constexpr ModeSWords early_mode_s_bits(ModeSGuess const& guess, unsigned bits) {
  bool below = false;
  ModeSWords words;
  for (unsigned k = bits == mode_s_long_bits ? 2 : 1; k-- > 0;) {
    words.of[k] =
        mode_s_reversed(mode_s_resolved(mode_s_reversed(guess.likely[k]), mode_s_reversed(guess.sure[k]), below));
  }
  return words;
}

PENSTOCK_RULES_THERE constexpr unsigned mode_s_format(ModeSWords const& words) {
  unsigned format = 0;
  for (unsigned bit = 0; bit < 5; ++bit) format = format << 1U | static_cast<unsigned>(words.of[0] >> bit & 1U);
  return format;
}
/// Number of bits of a frame of this format, if its parity field holds nothing but the parity; otherwise 0.
PENSTOCK_RULES_THERE constexpr unsigned mode_s_checked_bits(unsigned format) {
  return format == 17 || format == 18 ? mode_s_long_bits : format == 11 ? mode_s_short_bits : 0;
}

/// False if neither a late nor an early frame with such first bits is of a format whose parity field holds nothing but
/// the parity. It looks at the first `count` of the guessed bits.
PENSTOCK_RULES_THERE constexpr bool may_be_off_the_samples(std::uint32_t likely, std::uint32_t sure, unsigned count) {
  unsigned late = 0;
  for (unsigned bit = 0, value = 1; bit < 5; ++bit) {
    value = (sure >> bit | (likely >> bit & value)) & 1U;
    late = late << 1U | value;
  }
  bool some = mode_s_checked_bits(late) != 0;
  // The bit behind those is not known, so both values are tried.
  for (unsigned behind = 0; behind < 2; ++behind) {
    unsigned early = 0, value = behind;
    for (unsigned bit = count; bit-- > 0;) {
      value = (sure >> bit | (likely >> bit & value)) & 1U;
      if (bit < 5) early |= value << (4 - bit);
    }
    some = some || mode_s_checked_bits(early) != 0;
  }
  return some;
}
inline constexpr unsigned mode_s_first_bits = 10;

}  // namespace penstock
