// SPDX-License-Identifier: Apache-2.0
// A random part of an image, and other chances, which depend on a seed alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "penstock/images.hpp"

namespace penstock::c {

/// Random numbers: the same for the same seed, on every machine.
///
/// Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators (2014).
class Chances {
 public:
  explicit Chances(std::uint64_t seed) noexcept : state_(seed) {}
  /// Those of one item under a seed.
  Chances(std::uint64_t seed, std::uint64_t item) noexcept : state_(Chances(seed).next() ^ Chances(~item).next()) {}

  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31U);
  }
  /// A number from `low` on, below `high` but for rounding.
  double between(double low, double high) noexcept {
    return low + (high - low) * static_cast<double>(next() >> 11U) * 0x1p-53;
  }
  /// A whole number from 0 to `most`.
  std::uint32_t up_to(std::uint32_t most) noexcept {
    return static_cast<std::uint32_t>((next() >> 32U) * (std::uint64_t{most} + 1) >> 32U);
  }

 private:
  std::uint64_t state_;
};

/// Chooses a part with an area between `least_area` and all of the image's, and a ratio of width to height between
/// `most_ratio` and its inverse. If ten such parts are not within the image, it is the largest in the middle that has
/// such a ratio.
///
/// Source: Szegedy and others, Going deeper with convolutions (2014); torchvision's RandomResizedCrop.
inline void take_random(ImageHead& head, Chances& chances, double least_area, double most_ratio) {
  double const width = head.width, height = head.height, log_ratio = std::log(most_ratio);
  for (int attempt = 0; attempt < 10; ++attempt) {
    double const area = width * height * chances.between(least_area, 1);
    double const ratio = std::exp(chances.between(-log_ratio, log_ratio));
    double const part_width = std::round(std::sqrt(area * ratio)), part_height = std::round(std::sqrt(area / ratio));
    if (part_width < 1 || part_height < 1 || part_width > width || part_height > height) continue;
    head.part_width = static_cast<std::uint32_t>(part_width);
    head.part_height = static_cast<std::uint32_t>(part_height);
    head.left = chances.up_to(head.width - head.part_width);
    head.top = chances.up_to(head.height - head.part_height);
    return;
  }
  head.take_all();
  if (width > height * most_ratio) head.part_width = static_cast<std::uint32_t>(std::round(height * most_ratio));
  if (height > width * most_ratio) head.part_height = static_cast<std::uint32_t>(std::round(width * most_ratio));
  head.left = (head.width - head.part_width) / 2;
  head.top = (head.height - head.part_height) / 2;
}

}  // namespace penstock::c
