// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

/// How long a device takes for a tile while it has more than it can do: time over tiles, where older values count for
/// less.
class Pace {
 public:
  /// The device finished so many tiles in that time, in which it always had one. One call takes all that one look
  /// found, because each call makes older values count for an eighth less.
  void add(std::chrono::nanoseconds time, std::uint64_t tiles) noexcept {
    time_ = time_ * kept + static_cast<double>(time.count());
    tiles_ = tiles_ * kept + static_cast<double>(tiles);
  }
  /// For so many tiles; 0 before the first is through.
  std::chrono::nanoseconds of(std::uint64_t tiles) const noexcept {
    if (tiles_ == 0) return {};
    return std::chrono::nanoseconds(static_cast<std::int64_t>(time_ / tiles_ * static_cast<double>(tiles)));
  }

 private:
  static constexpr double kept = 0.875;
  double time_ = 0;
  double tiles_ = 0;
};

}  // namespace penstock
