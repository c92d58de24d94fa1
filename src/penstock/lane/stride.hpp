// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace penstock {

/// Which tiles are worth a call of their own.
///
/// A driver makes some tens of thousands of calls a second, so no more than four calls are asked for tiles that the
/// lane has not retired. The lane asks for another when it has retired the tile of the oldest, whether it was called or
/// saw the tile pass. While few tiles are in flight, that is a call for each, for latency; a full lane is called eight
/// times while its slots go round once. Values from 1 to 128 make no difference (docs/performance.md).
///
/// Threads: the lane's.
class Stride {
 public:
  static constexpr std::size_t most_under_way = 4;
  static constexpr std::uint64_t calls_a_turn = 8;

  /// The tile to ask a call for now, if there is one.
  std::optional<std::uint64_t> next(std::uint64_t youngest, std::uint64_t retired) const noexcept {
    // Measured by what is retired and not by what was called: a call that got lost must not keep others from being
    // made.
    if (asked_.front() > retired) return std::nullopt;
    std::uint64_t const from = std::max(asked_.back(), retired);
    std::uint64_t const number = from + std::max<std::uint64_t>(1, (youngest - retired) / calls_a_turn);
    if (number > youngest) return std::nullopt;
    return number;
  }
  void asked_for(std::uint64_t number) noexcept {
    std::rotate(asked_.begin(), asked_.begin() + 1, asked_.end());
    asked_.back() = number;
  }

 private:
  /// The tiles that the last calls were asked for, oldest first; made up for once they are retired.
  std::array<std::uint64_t, most_under_way> asked_{};
};

}  // namespace penstock
