// SPDX-License-Identifier: Apache-2.0
// The pixels that count for a value of a resized image, and their weights: the same on host and GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/images.hpp"

namespace penstock {

/// True if the head's part and the pixels lie within `bytes`.
constexpr bool holds_image(ImageHead const& head, std::size_t bytes) noexcept {
  return head.width <= longest_image_side && head.height <= longest_image_side && head.part_width != 0 &&
         head.part_height != 0 && head.part_width <= head.width && head.left <= head.width - head.part_width &&
         head.part_height <= head.height && head.top <= head.height - head.part_height && head.bytes() <= bytes;
}

/// The pixels of a row or column that contribute to one value.
struct ResizeTaps {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  float centre = 0;
  float reach = 1;

  constexpr float weight(std::uint32_t pixel) const noexcept {
    float const away = static_cast<float>(pixel) + 0.5F - centre;
    float const left = 1 - (away < 0 ? -away : away) / reach;
    return left < 0 ? 0 : left;
  }
};

/// Taps of value `place` out of `count`, which are made of `pixels`.
constexpr ResizeTaps resize_taps(std::uint32_t place, std::uint32_t count, std::uint32_t pixels) noexcept {
  float const scale = static_cast<float>(pixels) / static_cast<float>(count);
  ResizeTaps taps;
  taps.centre = (static_cast<float>(place) + 0.5F) * scale;
  taps.reach = scale < 1 ? 1 : scale;
  float const from = taps.centre - taps.reach + 0.5F, to = taps.centre + taps.reach + 0.5F;
  taps.first = from <= 0 ? 0 : static_cast<std::uint32_t>(from);
  taps.end = static_cast<std::uint32_t>(to);
  if (taps.end > pixels) taps.end = pixels;
  if (taps.first >= taps.end) taps.first = taps.end - 1;  // Only rounding leads here.
  return taps;
}

}  // namespace penstock
