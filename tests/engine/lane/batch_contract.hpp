// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

#include "support/gate.hpp"

#include "engine/lane/lane_contract.hpp"

namespace penstock {

/// A lane that takes up to eight tiles at once and has 32 slots, and a pool of 40. Its stage adds one to each byte, and
/// says which tiles it was given together; at the first tile it keeps the lane until the door is open, so that what is
/// submitted meanwhile waits.
struct LaneOfBatches : LaneContract {
  static constexpr unsigned batch = 8, slots = 32;

  explicit LaneOfBatches(std::size_t bytes_of_a_tile = 4096, std::size_t tiles_of_the_pool = 40)
      : LaneContract(bytes_of_a_tile, tiles_of_the_pool) {}
  void TearDown() override {
    door.open();
    later.open();
    if (held.hold) held.hold->open();
    LaneContract::TearDown();
  }

  /// Tiles by sequence, in the order they were given; each tile that was given alone is a batch of one.
  using Batches = std::vector<std::vector<std::uint64_t>>;
  Batches batches() {
    std::scoped_lock const lock(noted_mutex);
    return noted;
  }
  std::size_t stretches() {
    std::scoped_lock const lock(noted_mutex);
    return stretches_noted;
  }
  /// Places of the lists that the stage was given with several tiles.
  std::set<void const*> lists() {
    std::scoped_lock const lock(noted_mutex);
    return lists_noted;
  }
  /// Makes a stage that is given tiles together, or one by one.
  Stages noting(bool together = true);
  /// Opens the lane, and keeps it at tile 0.
  void open_and_keep(Stages const& stages, LaneOptions options = {});
  /// Opens and keeps the lane, and submits tiles 1 to `last` before it lets go.
  void open_with(std::uint64_t last, Stages const& stages, LaneOptions const& options = {});

  support::Gate door;
  support::Gate later;  ///< Keeps the lane as well, at this tile, if not 0.
  std::uint64_t later_at = 0;
  std::uint64_t throws_at = 0;  ///< Tile at which the stage throws, if not 0.
  Holding held{.at = {}};       ///< Tiles that are held on the device.

 private:
  class Noting;
  std::mutex noted_mutex;
  Batches noted;
  std::size_t stretches_noted = 0;
  std::set<void const*> lists_noted;
};

/// A lane of batches with 72 slots and 72 tiles, of which two are much for a link.
struct LaneOfLargeBatches : LaneOfBatches {
  LaneOfLargeBatches() : LaneOfBatches(std::size_t{1} << 20, 72) {}
  void open() { open_lane(noting(), {.flight = {.slots = 72}, .batch = batch}); }
};

/// Sorts by sequence: tiles that came home before others were submitted have other neighbours than before.
inline std::vector<Seen> in_order(std::vector<Seen> all) {
  std::ranges::sort(all, {}, &Seen::sequence);
  return all;
}

inline std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> all(last - first + 1);
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace penstock
