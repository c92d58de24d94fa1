// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernels/radio/mode_s_rules.hpp"
#include "penstock/radio.hpp"

namespace penstock {

/// The powers of a block's samples, or of the points between each two of them, and the frames that begin there.
class ModeSSamples {
 public:
  /// Shape: `samples` are those from the block's first on, two bytes each.
  ModeSSamples(std::span<unsigned char const> samples, bool between)
      : between_(between), length_(std::min(samples.size() / 2 - (between ? 1 : 0), staged_samples)) {
    std::size_t at = 0;
#if defined(__SSE2__)
    __m128i const middle = _mm_set1_epi8(static_cast<char>(0x80)), one = _mm_set1_epi16(1);
    auto const from = [&](std::size_t sample) {
      return _mm_loadu_si128(reinterpret_cast<__m128i const*>(samples.data() + 2 * sample));
    };
    for (; at + 8 <= length_; at += 8) {
      __m128i const bytes = _mm_xor_si128(between ? _mm_avg_epu8(from(at), from(at + 1)) : from(at), middle);
      __m128i const i = _mm_srai_epi16(_mm_slli_epi16(bytes, 8), 8), q = _mm_srai_epi16(bytes, 8);
      __m128i const both =
          _mm_add_epi16(_mm_mullo_epi16(i, _mm_add_epi16(i, one)), _mm_mullo_epi16(q, _mm_add_epi16(q, one)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(powers_.data() + at), _mm_srli_epi16(both, 1));
    }
#endif
    for (; at < length_; ++at) {
      auto const value = [&](std::size_t byte) -> unsigned {
        return between ? (samples[byte] + samples[byte + 2] + 1U) / 2 : samples[byte];
      };
      powers_[at] = static_cast<std::uint16_t>(mode_s_power(value(2 * at), value(2 * at + 1)));
    }
  }

  /// Appends the frames to those of the block.
  void find(std::uint32_t first_sample, ModeSBlock& to) const {
    if (length_ < mode_s_short_samples) return;
    std::size_t const end = std::min(mode_s_block_samples, length_ - mode_s_short_samples + 1);
    for (std::size_t at = 0; at < end; at += 8) {
      unsigned mask = preambles(at);
      if (end - at < 8) mask &= (1U << (end - at)) - 1U;
      for (; mask != 0; mask &= mask - 1) {
        std::size_t const begin = at + static_cast<unsigned>(std::countr_zero(mask));
        ModeSFrame frame{.sample = static_cast<std::uint32_t>(first_sample + begin),
                         .between = between_ ? std::uint8_t{1} : std::uint8_t{0}};
        if (!decode(begin, frame) && !decode_off_the_samples(begin, frame)) continue;
        if (to.found < mode_s_block_frames) to.frames[to.found] = frame;
        ++to.found;
      }
    }
  }

 private:
  /// A block's samples, and those of a frame that begins in the last one.
  static constexpr std::size_t staged_samples = mode_s_block_samples + mode_s_long_samples;
  static constexpr ModeSSyndromes syndromes = make_mode_s_syndromes();

  /// A bit for each of the eight samples from `at` on at which a preamble begins. There are enough samples behind the
  /// last one.
  unsigned preambles(std::size_t at) const {
    std::uint16_t const* const p = powers_.data() + at;
#if defined(__SSE2__)
    auto const from = [p](std::size_t place) { return _mm_loadu_si128(reinterpret_cast<__m128i const*>(p + place)); };
    __m128i const p1 = from(1), p2 = from(2), p3 = from(3), p6 = from(6), p7 = from(7), p8 = from(8);
    __m128i const rises = _mm_and_si128(_mm_cmpgt_epi16(p2, p1), _mm_cmpgt_epi16(p7, p6));
    __m128i const falls = _mm_and_si128(_mm_cmpgt_epi16(p2, p3), _mm_cmpgt_epi16(p7, p8));
    __m128i const ends = _mm_and_si128(_mm_cmpgt_epi16(from(0), p1), _mm_cmpgt_epi16(from(9), p8));
    __m128i const found = _mm_and_si128(_mm_and_si128(rises, falls), ends);
    if (_mm_movemask_epi8(found) == 0) return 0;
    // Four powers fit into 16 bits. The sum of more saturates at the largest number, which is above that of four.
    __m128i const pulses = _mm_add_epi16(_mm_add_epi16(from(0), p2), _mm_add_epi16(p7, from(9)));
    __m128i const quiet =
        _mm_adds_epu16(_mm_add_epi16(_mm_add_epi16(p3, from(4)), _mm_add_epi16(from(5), p6)),
                       _mm_add_epi16(_mm_add_epi16(from(11), from(12)), _mm_add_epi16(from(13), from(14))));
    __m128i const not_more = _mm_cmpeq_epi16(_mm_subs_epu16(pulses, quiet), _mm_setzero_si128());
    __m128i const all = _mm_andnot_si128(not_more, found);
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(all, _mm_setzero_si128())));
#else
    unsigned mask = 0;
    for (unsigned k = 0; k < 8; ++k) mask |= is_mode_s_preamble(p + k) ? 1U << k : 0U;
    return mask;
#endif
  }

  bool decode(std::size_t begin, ModeSFrame& frame) const {
    std::uint16_t const* const p = powers_.data() + begin;
    auto const bit_at = [p](unsigned bit) -> unsigned {
      return p[mode_s_preamble + 2 * bit] > p[mode_s_preamble + 2 * bit + 1] ? 1 : 0;
    };
    unsigned format = 0;
    for (unsigned bit = 0; bit < 5; ++bit) format = format << 1U | bit_at(bit);
    unsigned const bits = mode_s_bits(format);
    if (bits == 0 || begin + mode_s_preamble + std::size_t{2} * bits > length_) return false;
    bool const clear = is_clear_mode_s_preamble(p);
    if (!clear && !is_mode_s_frame(format, 0, false)) return false;
    return is_mode_s_frame(format, fill(frame, bits, bit_at), clear);
  }
  /// Only frames whose parity field holds nothing but the parity are decoded this way.
  bool decode_off_the_samples(std::size_t begin, ModeSFrame& frame) const {
    std::uint16_t const* const p = powers_.data() + begin + mode_s_preamble;
    std::uint32_t likely = 0, sure = 0;
    for (std::size_t bit = 0; bit < mode_s_first_bits; ++bit) {
      likely |= is_likely_mode_s_bit(p[2 * bit], p[2 * bit + 1]) ? 1U << bit : 0U;
      sure |= is_sure_mode_s_bit(p[2 * bit], p[2 * bit + 1]) ? 1U << bit : 0U;
    }
    if (!may_be_off_the_samples(likely, sure, mode_s_first_bits)) return false;
    ModeSGuess guess;
    for (std::size_t bit = 0; bit < mode_s_long_bits; ++bit) {
      std::size_t const word = bit / mode_s_short_bits, place = bit % mode_s_short_bits;
      guess.likely[word] |= std::uint64_t{is_likely_mode_s_bit(p[2 * bit], p[2 * bit + 1])} << place;
      guess.sure[word] |= std::uint64_t{is_sure_mode_s_bit(p[2 * bit], p[2 * bit + 1])} << place;
    }
    for (bool const late : {true, false}) {
      for (unsigned const bits : {mode_s_long_bits, mode_s_short_bits}) {
        if (begin + mode_s_preamble + std::size_t{2} * bits > length_) continue;
        ModeSWords const words = late ? late_mode_s_bits(guess) : early_mode_s_bits(guess, bits);
        if (mode_s_checked_bits(mode_s_format(words)) != bits) continue;
        auto const bit_at = [&](unsigned bit) {
          return static_cast<unsigned>(words.of[bit / mode_s_short_bits] >> bit % mode_s_short_bits & 1U);
        };
        if (fill(frame, bits, bit_at) == 0) return true;
      }
    }
    return false;
  }
  /// Returns the remainder.
  template <class BitAt>
  static std::uint32_t fill(ModeSFrame& frame, unsigned bits, BitAt const& bit_at) {
    frame.bytes = {};
    frame.length = static_cast<std::uint8_t>(bits / 8);
    std::uint32_t remainder = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
      unsigned const value = bit_at(bit);
      frame.bytes[bit / 8] = static_cast<std::uint8_t>(std::uint32_t{frame.bytes[bit / 8]} << 1U | value);
      remainder ^= syndromes.of[mode_s_long_bits - bits + bit] & (0U - value);
    }
    return remainder;
  }

  bool const between_;
  std::size_t const length_;
  // Values behind the last sample are read, but decide nothing.
  std::array<std::uint16_t, staged_samples + 8> powers_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
};

}  // namespace penstock
