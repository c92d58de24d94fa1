// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/blake3/blake3_rounds.hpp"
#include "penstock/kernels.hpp"

namespace penstock {

/// Vectors of `width` 32-bit words, as words and as bytes.
template <std::size_t width>
struct Blake3Vectors;
template <>
struct Blake3Vectors<4> {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
};
template <>
struct Blake3Vectors<8> {
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(32)]] = std::uint8_t;
};
template <>
struct Blake3Vectors<16> {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(64)]] = std::uint8_t;
};

/// The body of one Blake3Width, written once for all of them in the compiler's vector types.
///
/// Each width is compiled for another processor, so each may be instantiated in one source file only, and all inline
/// code that it uses must depend on `width`: else the linker could hand one processor's code to another.
template <std::size_t width>
class Blake3SideBySide {
 public:
  static void chunks(std::byte const* input, std::size_t count, std::uint64_t first_chunk, std::byte* values) {
    for (; count > width; count -= width) {
      compress<blake3_chunk_bytes>(input, width, first_chunk, values);
      input += width * blake3_chunk_bytes;
      first_chunk += width;
      values += width * blake3_value_bytes;
    }
    if (count > 0) compress<blake3_chunk_bytes>(input, count, first_chunk, values);
  }

  static void parents(std::byte const* pairs, std::size_t count, std::byte* values) {
    for (; count > width; count -= width) {
      compress<blake3_block_bytes>(pairs, width, 0, values);
      pairs += width * blake3_block_bytes;
      values += width * blake3_value_bytes;
    }
    if (count > 0) compress<blake3_block_bytes>(pairs, count, 0, values);
  }

 private:
  using Words = typename Blake3Vectors<width>::Words;
  using Bytes = typename Blake3Vectors<width>::Bytes;
  using Four = typename Blake3Vectors<4>::Words;
  using Elements = std::make_index_sequence<width>;

  struct Machine {
    using Word = Words;
    template <int n>
    [[gnu::always_inline]] static constexpr Words rotate(Words words) {
      // One byte shuffle instead of two shifts; the 16 wide processors have an instruction that rotates.
      if constexpr (n % 8 == 0 && width < 16) return turn<n / 8>(words, std::make_index_sequence<width * 4>{});
      return (words >> n) | (words << (32 - n));
    }
    template <std::size_t bytes, std::size_t... to>
    [[gnu::always_inline]] static constexpr Words turn(Words words, std::index_sequence<to...>) {
      auto const in = std::bit_cast<Bytes>(words);
      return std::bit_cast<Words>(__builtin_shufflevector(in, in, ((to & ~std::size_t{3}) | ((to + bytes) & 3))...));
    }
  };

  /// Hashes `count` inputs of `size` bytes each.
  template <std::size_t size>
  static void compress(std::byte const* input, std::size_t count, std::uint64_t first_chunk, std::byte* values) {
    constexpr bool is_chunk = size == blake3_chunk_bytes;
    std::byte const* from[width];
    Words counter_low{}, counter_high{};
    for (std::size_t i = 0; i < width; ++i) {
      from[i] = input + size * (i < count ? i : 0);  // Idle elements repeat the first input.
      if constexpr (is_chunk) {
        counter_low[i] = static_cast<std::uint32_t>(first_chunk + i);
        counter_high[i] = static_cast<std::uint32_t>((first_chunk + i) >> 32);
      }
    }
    Words value[8];
    for (std::size_t i = 0; i < 8; ++i) value[i] = Words{} + blake3_start[i];
    for (std::size_t at = 0; at < size; at += blake3_block_bytes) {
      Words message[16];
      for (std::size_t i = 0; i < 16; i += 4) load(from, at + i * 4, message + i);
      std::uint32_t flags = blake3_is_parent;
      if constexpr (is_chunk) {
        // The block four blocks ahead, in this chunk or in the next group of inputs, is prefetched. That is a sixth
        // faster from memory, because processors do not predict so many streams (bench/kernels/blake3_bench).
        std::size_t const ahead = at + 4 * blake3_block_bytes;
        std::size_t const soon = ahead < size ? ahead : ahead + (width - 1) * size;
        for (std::size_t i = 0; i < width; ++i) __builtin_prefetch(from[i] + soon);
        flags = (at == 0 ? blake3_chunk_start : 0) | (at + blake3_block_bytes == size ? blake3_chunk_end : 0);
      }
      Words state[16] = {value[0],
                         value[1],
                         value[2],
                         value[3],
                         value[4],
                         value[5],
                         value[6],
                         value[7],
                         Words{} + blake3_start[0],
                         Words{} + blake3_start[1],
                         Words{} + blake3_start[2],
                         Words{} + blake3_start[3],
                         counter_low,
                         counter_high,
                         Words{} + static_cast<std::uint32_t>(blake3_block_bytes),
                         Words{} + flags};
      Blake3Rounds<Machine>::mix(state, message);
      for (std::size_t i = 0; i < 8; ++i) value[i] = state[i] ^ state[i + 8];
    }
    store(value, count, values);
  }

  /// Words `offset / 4` to `offset / 4 + 3` of all inputs, transposed: row[w] holds word w of each.
  [[gnu::always_inline]] static void load(std::byte const* const* from, std::size_t offset, Words* row) {
    for (std::size_t i = 0; i < 4; ++i) row[i] = gather<width>(from + i, offset);
    transpose(row);
  }

  /// Gathers four words each of every fourth input, side by side.
  template <std::size_t part>
  [[gnu::always_inline]] static auto gather(std::byte const* const* from, std::size_t offset) {
    if constexpr (part == 4) {
      Four four;
      std::memcpy(&four, *from + offset, sizeof four);
      return four;
    } else {
      return join(gather<part / 2>(from, offset), gather<part / 2>(from + part / 2, offset),
                  std::make_index_sequence<part>{});
    }
  }
  template <class Half, std::size_t... element>
  [[gnu::always_inline]] static auto join(Half low, Half high, std::index_sequence<element...>) {
    return __builtin_shufflevector(low, high, element...);
  }

  /// Writes element i of the eight words to values + 32 i, for i < count.
  [[gnu::always_inline]] static void store(Words* value, std::size_t count, std::byte* values) {
    transpose(value);
    transpose(value + 4);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t half = 0; half < 2; ++half) {
        auto const* const row = reinterpret_cast<std::byte const*>(value + half * 4 + i % 4);
        std::memcpy(values + i * blake3_value_bytes + half * 16, row + i / 4 * 16, 16);
      }
    }
  }

  /// Transposes each 4 x 4 square: in every group of four elements, row r's element c becomes row c's element r.
  [[gnu::always_inline]] static void transpose(Words* row) {
    Words const low01 = zip<0>(row[0], row[1], Elements{}), low23 = zip<0>(row[2], row[3], Elements{});
    Words const high01 = zip<2>(row[0], row[1], Elements{}), high23 = zip<2>(row[2], row[3], Elements{});
    row[0] = pair<0>(low01, low23, Elements{});
    row[1] = pair<2>(low01, low23, Elements{});
    row[2] = pair<0>(high01, high23, Elements{});
    row[3] = pair<2>(high01, high23, Elements{});
  }
  /// Takes, in every four elements from place `start` on, two of a and two of b alternately.
  template <std::size_t start, std::size_t... to>
  [[gnu::always_inline]] static Words zip(Words a, Words b, std::index_sequence<to...>) {
    return __builtin_shufflevector(a, b, ((to & ~std::size_t{3}) + start + (to & 3) / 2 + (to & 1) * width)...);
  }
  /// Takes, in every four elements from place `start` on, two of a and then two of b.
  template <std::size_t start, std::size_t... to>
  [[gnu::always_inline]] static Words pair(Words a, Words b, std::index_sequence<to...>) {
    return __builtin_shufflevector(a, b, ((to & ~std::size_t{3}) + start + (to & 1) + (to & 2) / 2 * width)...);
  }
};

}  // namespace penstock
