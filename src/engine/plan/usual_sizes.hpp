// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/core/pool.hpp"
#include "engine/plan/defaults.hpp"

namespace penstock {

/// Number of lanes that feed each CPU device, or GPU, of that kind of pipeline, with `cpus` CPUs for each.
constexpr unsigned usual_lanes(PipelineKind kind, unsigned cpus) {
  auto const lanes = static_cast<unsigned>(default_of(Number::lanes, kind));
  auto const of_one = static_cast<unsigned>(default_of(Number::cpus_of_lane, kind));
  return of_one == 0 ? lanes : std::clamp(cpus / of_one, 1U, lanes);
}

/// Default number of tiles that a lane puts on its device at once, where each has up to `largest_part` bytes each way.
/// These are as many as `batch_bytes` hold, but no more than `most_batch`, and one at least.
constexpr unsigned usual_batch(Driven driven, std::size_t largest_part) {
  PipelineKind const kind{.driven = driven, .tile = tile_class(largest_part)};
  std::uint64_t const held = default_of(Number::batch_bytes, kind) / std::max<std::size_t>(1, largest_part);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(held, 1, default_of(Number::most_batch, kind)));
}

/// Default number of tiles of `tile_bytes` that a lane puts on its GPU at once, with `gpus` GPUs: as
/// many as the cache holds if each GPU has its batches in flight. If that is less than two, two where the cache holds
/// two batches for each GPU, and else one. It is no more than usual (docs/decisions/several-devices.md).
constexpr unsigned usual_batch_of_several(std::size_t tile_bytes, std::size_t gpus) {
  constexpr std::size_t cached = default_of(Number::cached_bytes, {.driven = Driven::several_gpus});
  std::size_t const tiles = cached / std::max<std::size_t>(1, gpus) / std::max<std::size_t>(1, tile_bytes);
  std::size_t const held = tiles / batches_in_flight;
  std::size_t const least = std::clamp<std::size_t>(tiles / 2, 1, 2);
  std::size_t const most = std::max(2U, usual_batch(Driven::several_gpus, tile_bytes));
  return static_cast<unsigned>(std::clamp<std::size_t>(held, least, most));
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
  std::size_t slots = 0;  ///< Slots of each lane.
  std::size_t batch = 1;  ///< Tiles that a lane puts on its device at once.
  std::size_t producers = 0;
  std::size_t consumers = 0;
  std::size_t tile_bytes = 0;  ///< Bytes of the pool for one tile; 0 if they do not matter.
};

/// `tiles`, rounded up so that the last batch is whole, but no more than a pool holds.
constexpr std::size_t in_whole_batches(std::size_t tiles, TileHolders const& holders) {
  std::size_t const batch = std::max<std::size_t>(1, std::min(holders.batch, holders.slots / 2));
  return std::min((tiles + batch - 1) / batch * batch, Pool::max_tiles);
}

/// Default number of tiles of a pipeline: one for each slot, two for each producer, one for each consumer.
/// If these are more than the last cache holds, only as many as fit there, but at least one for each second slot, each
/// producer and each consumer. The batches are whole.
constexpr std::size_t usual_tiles(TileHolders const& holders) {
  std::size_t held = holders.lanes * holders.slots + 2 * holders.producers + holders.consumers;
  if (holders.tile_bytes > 0) {
    std::size_t const needed = holders.lanes * ((holders.slots + 1) / 2) + holders.producers + holders.consumers;
    constexpr std::size_t cached = default_of(Number::cached_bytes, {.driven = Driven::gpu});
    held = std::min(held, std::max(needed, cached / holders.tile_bytes));
  }
  return in_whole_batches(held, holders);
}

/// Default number of tiles of a pipeline of several GPUs: `cached_bytes` of them, no more than there are
/// slots, and two for each lane at least. Each producer beyond the first adds as many as `bytes_of_producer`, a batch
/// at most and one at least, and all of them `bytes_of_producers` at most. Each consumer beyond the first adds one. The
/// batches are whole.
constexpr std::size_t tiles_of_several(TileHolders const& holders) {
  constexpr PipelineKind kind{.driven = Driven::several_gpus};
  std::size_t const bytes = std::max<std::size_t>(1, holders.tile_bytes);
  std::size_t const cached = std::min(default_of(Number::cached_bytes, kind) / bytes, holders.lanes * holders.slots);
  std::size_t const producers = std::max<std::size_t>(holders.producers, 1) - 1;
  std::size_t const consumers = std::max<std::size_t>(holders.consumers, 1) - 1;
  std::size_t const each =
      std::min(default_of(Number::bytes_of_producer, kind) / bytes, std::max<std::size_t>(1, holders.batch));
  std::size_t const filled =
      std::max(producers, std::min(producers * each, default_of(Number::bytes_of_producers, kind) / bytes));
  return in_whole_batches(std::max(cached, 2 * holders.lanes) + filled + consumers, holders);
}

/// Number of `tiles_of_several` lent only while more than `producers_without_reserve` work. All tiles are lent in
/// turn, so those of producers that rest would leave the last cache all the same (docs/decisions/several-devices.md).
constexpr std::size_t reserve_of_several(std::size_t tiles, TileHolders holders) {
  holders.producers = std::min(holders.producers, producers_without_reserve);
  std::size_t const without = tiles_of_several(holders);
  return tiles > without ? tiles - without : 0;
}

/// Number of tiles that are enough where tiles are few, and all are lent in turn: one for each slot, producer and
/// consumer, in whole batches, and no more than usual (docs/decisions/latency.md).
constexpr std::size_t few_tiles(TileHolders const& holders) {
  std::size_t const held = holders.lanes * holders.slots + holders.producers + holders.consumers;
  return std::min(in_whole_batches(held, holders), usual_tiles(holders));
}

}  // namespace penstock
