// SPDX-License-Identifier: Apache-2.0
// The position of a camera when it took an image: EXIF's tag Orientation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace penstock {

/// Turn of a file's pixels: 1 is as they are; 2 to 4 mirror or turn them by 180 degrees; from 5 on rows become columns.
struct Orientation {
  unsigned value = 1;

  bool as_it_is() const noexcept { return value == 1; }
  bool mirrors_only() const noexcept { return value == 2; }
  /// This one, and then left and right change places.
  Orientation mirrored() const noexcept { return {value % 2 == 1 ? value + 1 : value - 1}; }
  bool swaps_sides() const noexcept { return value > 4; }
  /// Place, in the file's image with these sides, of the pixel at x, y of the turned image.
  std::pair<std::size_t, std::size_t> source(std::size_t x, std::size_t y, std::size_t width,
                                             std::size_t height) const noexcept {
    auto const [column, row] = swaps_sides() ? std::pair(y, x) : std::pair(x, y);
    bool const from_right = value == 2 || value == 3 || value == 7 || value == 8;
    bool const from_below = value == 3 || value == 4 || value == 6 || value == 7;
    return {from_right ? width - 1 - column : column, from_below ? height - 1 - row : row};
  }
};

/// Orientation in the data of a marker APP1; 1 if there is none, or one without a meaning.
///
/// Source: CIPA DC-008 (EXIF 2.32), 4.5.2 and 4.6.4.
inline Orientation orientation_of(std::span<unsigned char const> marker) {
  constexpr std::size_t name = 6, entry = 12;
  constexpr unsigned tag = 0x0112, short_number = 3;
  if (marker.size() < name + 8 || marker[0] != 'E' || marker[1] != 'x' || marker[2] != 'i' || marker[3] != 'f')
    return {};
  auto const data = marker.subspan(name);
  bool const little = data[0] == 'I';
  auto const half = [&](std::size_t at) -> unsigned {
    unsigned const one = data[at], other = data[at + 1];
    return little ? one | other << 8U : one << 8U | other;
  };
  std::size_t const first = little ? half(4) | half(6) << 16U : half(4) << 16U | half(6);
  if (half(2) != 42 || first > data.size() || data.size() - first < 2) return {};
  for (std::size_t k = 0, at = first + 2; k < half(first) && at + entry <= data.size(); ++k, at += entry) {
    if (half(at) != tag) continue;
    unsigned const value = half(at + 8);
    return {half(at + 2) == short_number && value >= 1 && value <= 8 ? value : 1};
  }
  return {};
}

}  // namespace penstock
