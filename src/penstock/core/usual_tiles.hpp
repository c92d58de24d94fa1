// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "penstock/core/pool.hpp"

namespace penstock {

/// Who holds tiles of a pipeline.
struct TileHolders {
  std::size_t lanes = 0;
  std::size_t slots = 0;  ///< Of each lane.
  std::size_t batch = 1;  ///< Tiles that a lane puts on its device at once.
  std::size_t producers = 0;
  std::size_t consumers = 0;
};

/// How many tiles a pipeline takes if it is not told: one for each slot, two for each producer, one for each consumer,
/// as many more as make the last batch whole, and no more than a pool holds.
constexpr std::size_t usual_tiles(TileHolders const& holders) {
  std::size_t const held = holders.lanes * holders.slots + 2 * holders.producers + holders.consumers;
  std::size_t const batch = std::max<std::size_t>(1, std::min(holders.batch, holders.slots / 2));
  return std::min((held + batch - 1) / batch * batch, Pool::max_tiles);
}

}  // namespace penstock
