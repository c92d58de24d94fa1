// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// A value for each tile of a few pools.
///
/// Threads: `of` any, for tiles that they hold; `add` one at a time.
template <class Value, std::size_t MostPools>
class OfTiles {
 public:
  /// Throws: Error of kind bad_argument, if there are MostPools already.
  void add(Pool const& pool) {
    // No other thread writes it, and a thread that reads it has a tile of a pool that was added before.
    std::size_t const known = known_.load(std::memory_order_relaxed);
    if (known == MostPools) {
      throw Error(ErrorKind::bad_argument,
                  "One source feeds up to " + std::to_string(MostPools) + " pools: make several sources.");
    }
    pools_[known] = {&pool, std::vector<Value>(pool.size())};
    // A thread that looks for a tile's value finds all of it.
    known_.store(known + 1, std::memory_order_release);
  }

  /// Throws: Error of kind bad_argument, if the tile is of another pool.
  Value& of(Tile const& tile) {
    std::size_t const known = known_.load(std::memory_order_acquire);
    for (std::size_t k = 0; k < known; ++k) {
      if (pools_[k].pool == &tile.home()) return pools_[k].values.at(tile.index());
    }
    throw Error(ErrorKind::bad_argument, "This tile is of a pool that the source does not know: tell it by serve().");
  }

 private:
  struct OfPool {
    Pool const* pool = nullptr;
    std::vector<Value> values = {};
  };
  std::array<OfPool, MostPools> pools_;
  std::atomic<std::size_t> known_{0};
};

}  // namespace penstock
