// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace penstock {

/// How many batches are in flight: one in each step, and one that is put or retired. With batches of one tile, more of
/// them gained nothing (bench/flow/one_shot_bench).
inline constexpr unsigned batches_in_flight = 4;

/// From this tile size on, one lane fills a GPU's link.
inline constexpr std::size_t large_tile = std::size_t{1} << 20;

/// How many tiles a lane puts on a GPU at once if it is not told, where each has up to `largest_part` bytes each way:
/// as many as 32 MiB hold, or as many as 8 MiB hold if they are smaller than `large_tile`, but no more than 128
/// (decisions/0021, 0026).
constexpr unsigned usual_batch(std::size_t largest_part) {
  constexpr std::size_t mib = std::size_t{1} << 20, most = 128;
  std::size_t const bytes = largest_part < large_tile ? 8 * mib : 32 * mib;
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / std::max<std::size_t>(1, largest_part), 1, most));
}

/// The same with several GPUs, for tiles from `large_tile` on: 4 MiB, and two tiles at least, since few tiles are in
/// use (decisions/0050).
constexpr unsigned usual_batch_of_several(std::size_t largest_part) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  return static_cast<unsigned>(std::max<std::size_t>(2, bytes / std::max<std::size_t>(1, largest_part)));
}

/// The part of the batch asked for that lanes can use: in each lane, one batch comes while another goes.
constexpr unsigned largest_batch(unsigned asked, std::size_t slots, std::size_t tiles, std::size_t lanes) {
  std::size_t const of_slots = std::max<std::size_t>(1, slots / 2);
  std::size_t const of_tiles = std::max<std::size_t>(1, tiles / std::max<std::size_t>(1, 2 * lanes));
  return static_cast<unsigned>(std::min({std::size_t{std::max(asked, 1U)}, of_slots, of_tiles}));
}

}  // namespace penstock
