// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "penstock/core/pool.hpp"

namespace penstock {

/// How many batches are in flight: one in each step, and one that is put or retired. With batches of one tile, more of
/// them gained nothing (bench/flow/one_shot_bench).
inline constexpr unsigned batches_in_flight = 4;

/// From this tile size on, one lane fills a GPU's link.
inline constexpr std::size_t large_tile = std::size_t{1} << 20;

/// How many lanes feed a CPU device of so many CPUs: a kernel on one tile has too few blocks for many CPUs, and kernels
/// of several lanes run beside each other (docs/decisions/threads.md).
constexpr unsigned lanes_of_cpus(unsigned cpus) {
  return std::clamp(cpus / 4, 1U, 4U);
}

/// How many tiles a lane puts on a GPU at once if it is not told, where each has up to `largest_part` bytes each way:
/// as many as 32 MiB hold, or as many as 8 MiB hold if they are smaller than `large_tile`, but no more than 128
/// (docs/decisions/batches.md).
constexpr unsigned usual_batch(std::size_t largest_part) {
  constexpr std::size_t mib = std::size_t{1} << 20, most = 128;
  std::size_t const bytes = largest_part < large_tile ? 8 * mib : 32 * mib;
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / std::max<std::size_t>(1, largest_part), 1, most));
}

/// Memory of tiles for several GPUs together. They copy faster than the host's memory can go, unless the last cache
/// holds most of it, and the cache does not grow with their number (docs/decisions/several-devices.md).
inline constexpr std::size_t bytes_of_several = std::size_t{32} << 20;

/// How many tiles of so many bytes of the pool a lane puts on its GPU at once, with so many GPUs, if it is not told: as
/// many as `bytes_of_several` hold if each GPU has its batches in flight. If that is less than two, two where they hold
/// two batches for each GPU, and else one. No more than usual (docs/decisions/several-devices.md).
constexpr unsigned usual_batch_of_several(std::size_t tile_bytes, std::size_t gpus) {
  std::size_t const tiles = bytes_of_several / std::max<std::size_t>(1, gpus) / std::max<std::size_t>(1, tile_bytes);
  std::size_t const held = tiles / batches_in_flight;
  std::size_t const least = std::clamp<std::size_t>(tiles / 2, 1, 2);
  return static_cast<unsigned>(std::clamp<std::size_t>(held, least, std::max(2U, usual_batch(tile_bytes))));
}

/// The part of the batch asked for that lanes can use: in each lane, one batch comes while another goes.
constexpr unsigned largest_batch(unsigned asked, std::size_t slots, std::size_t tiles, std::size_t lanes) {
  std::size_t const of_slots = std::max<std::size_t>(1, slots / 2);
  std::size_t const of_tiles = std::max<std::size_t>(1, tiles / std::max<std::size_t>(1, 2 * lanes));
  return static_cast<unsigned>(std::min({std::size_t{std::max(asked, 1U)}, of_slots, of_tiles}));
}

/// The parts of a pipeline that hold tiles.
struct TileHolders {
  std::size_t lanes = 0;
  std::size_t slots = 0;  ///< Of each lane.
  std::size_t batch = 1;  ///< Tiles that a lane puts on its device at once.
  std::size_t producers = 0;
  std::size_t consumers = 0;
  std::size_t tile_bytes = 0;  ///< Of the pool's memory; 0 if they do not matter.
};

/// A thread that fills tiles leaves them in the last cache, as long as they do not push each other out before they are
/// lent again. All tiles are lent in turn: 12 producers that copied 4 MiB each to 256 MiB of tiles reached 38 GB/s each
/// way, and 49 with 136 and with 176 MiB (docs/decisions/pool.md).
inline constexpr std::size_t cached_bytes = std::size_t{160} << 20;

/// `tiles`, and so many more that the last batch is whole, but no more than a pool holds.
constexpr std::size_t in_whole_batches(std::size_t tiles, TileHolders const& holders) {
  std::size_t const batch = std::max<std::size_t>(1, std::min(holders.batch, holders.slots / 2));
  return std::min((tiles + batch - 1) / batch * batch, Pool::max_tiles);
}

/// How many tiles a pipeline takes if it is not told: one for each slot, two for each producer, one for each consumer.
/// If these are more than `cached_bytes`, only as many as fit there, but at least one for each second slot, each
/// producer and each consumer. In whole batches.
constexpr std::size_t usual_tiles(TileHolders const& holders) {
  std::size_t held = holders.lanes * holders.slots + 2 * holders.producers + holders.consumers;
  if (holders.tile_bytes > 0) {
    std::size_t const needed = holders.lanes * ((holders.slots + 1) / 2) + holders.producers + holders.consumers;
    held = std::min(held, std::max(needed, cached_bytes / holders.tile_bytes));
  }
  return in_whole_batches(held, holders);
}

/// What each producer beyond the first has of tiles for several GPUs: it fills one of a batch, and the others of the
/// batch wait for that one. With more than `most_bytes_of_producers` for all of them, tiles leave the last cache before
/// they are lent again (docs/decisions/several-devices.md).
inline constexpr std::size_t bytes_of_producer = std::size_t{2} << 20;
inline constexpr std::size_t most_bytes_of_producers = std::size_t{64} << 20;

/// How many tiles a pipeline of several GPUs takes if it is not told: `bytes_of_several` of them, no more than there
/// are slots, and two for each lane at least; for each producer beyond the first as many as `bytes_of_producer`, a
/// batch at most and one at least; one for each consumer beyond the first. In whole batches.
constexpr std::size_t tiles_of_several(TileHolders const& holders) {
  std::size_t const bytes = std::max<std::size_t>(1, holders.tile_bytes);
  std::size_t const cached = std::min(bytes_of_several / bytes, holders.lanes * holders.slots);
  std::size_t const producers = std::max<std::size_t>(holders.producers, 1) - 1;
  std::size_t const consumers = std::max<std::size_t>(holders.consumers, 1) - 1;
  std::size_t const each = std::min(bytes_of_producer / bytes, std::max<std::size_t>(1, holders.batch));
  std::size_t const filled = std::max(producers, std::min(producers * each, most_bytes_of_producers / bytes));
  return in_whole_batches(std::max(cached, 2 * holders.lanes) + filled + consumers, holders);
}

/// With up to so many producers at work the reserve is closed.
inline constexpr std::size_t producers_without_reserve = 2;

/// How many of `tiles_of_several` are lent only while more producers than these are at work. All tiles are lent in
/// turn, so those of producers that rest would leave the last cache all the same (docs/decisions/several-devices.md).
constexpr std::size_t reserve_of_several(std::size_t tiles, TileHolders holders) {
  holders.producers = std::min(holders.producers, producers_without_reserve);
  std::size_t const without = tiles_of_several(holders);
  return tiles > without ? tiles - without : 0;
}

/// How many are enough where tiles are few, and all of them are lent in turn: one for each slot, producer and consumer,
/// in whole batches, and no more than usual (docs/decisions/latency.md).
constexpr std::size_t few_tiles(TileHolders const& holders) {
  std::size_t const held = holders.lanes * holders.slots + holders.producers + holders.consumers;
  return std::min(in_whole_batches(held, holders), usual_tiles(holders));
}

}  // namespace penstock
