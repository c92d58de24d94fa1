// SPDX-License-Identifier: Apache-2.0
// Pixels made fewer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {

/// Number of pixels in a row, or of rows, that are left of `pixels`.
constexpr std::uint32_t means_of(std::uint32_t pixels, unsigned by) noexcept {
  return (pixels + by - 1) / by;
}

/// Writes the mean of each square of `by` x `by` pixels; at the right and at the bottom of those that are there.
///
/// Shape: `from` and `to` are rows without padding, three bytes for each pixel.
inline void write_means(unsigned char const* from, std::uint32_t width, std::uint32_t height, unsigned by,
                        unsigned char* to) {
  for (std::uint32_t top = 0; top < height; top += by) {
    std::uint32_t const rows = std::min(by, height - top);
    for (std::uint32_t left = 0; left < width; left += by) {
      std::uint32_t const columns = std::min(by, width - left), count = rows * columns;
      std::array<std::uint32_t, 3> sums{};
      for (std::uint32_t row = top; row < top + rows; ++row) {
        unsigned char const* pixel = from + 3 * (std::size_t{row} * width + left);
        for (std::uint32_t k = 0; k < columns; ++k, pixel += 3)
          sums[0] += pixel[0], sums[1] += pixel[1], sums[2] += pixel[2];
      }
      for (std::uint32_t const sum : sums) *to++ = static_cast<unsigned char>((sum + count / 2) / count);
    }
  }
}

}  // namespace penstock
