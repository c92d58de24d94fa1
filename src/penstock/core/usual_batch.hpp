// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace penstock {

/// How many batches are in flight: one in each step, and one that is put or retired; of one tile each more gained
/// nothing (bench/flow/one_shot_bench).
inline constexpr unsigned batches_in_flight = 4;

/// How many tiles a lane puts on a GPU at once if it is not told, where each has up to `largest_part` bytes each way:
/// as many as 8 MiB hold, but no more than 128 (decisions/0021).
constexpr unsigned usual_batch(std::size_t largest_part) {
  constexpr std::size_t bytes = std::size_t{8} << 20, most = 128;
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / std::max<std::size_t>(1, largest_part), 1, most));
}

}  // namespace penstock
