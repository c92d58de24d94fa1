// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

/// A way to do several BLAKE3 chunks or parents side by side, one in each element of a vector register.
///
/// Any count may be given, but only multiples of `width` leave no element idle. Nothing need be aligned. `values` may
/// be the memory of `pairs`.
///
/// Shape:   input is count x 1024 bytes, pairs is count x 64 (two values each), values is count x 32.
/// Threads: any.
struct Blake3Width {
  std::size_t width;
  char const* name;
  void (*chunks)(std::byte const* input, std::size_t count, std::uint64_t first_chunk, std::byte* values);
  void (*parents)(std::byte const* pairs, std::size_t count, std::byte* values);
};

/// The widths that this processor has, in rising order. The first is 1 and always there.
std::span<Blake3Width const> blake3_widths() noexcept;

/// The widths that were compiled. Call one only on a processor that has its instructions.
extern Blake3Width const blake3_one;
extern Blake3Width const blake3_four;
extern Blake3Width const blake3_eight;
extern Blake3Width const blake3_sixteen;

}  // namespace penstock
