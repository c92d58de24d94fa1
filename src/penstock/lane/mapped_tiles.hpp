// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Where a device itself sees the tiles of a pool; the device is asked once for each tile.
///
/// Threads: the lane's.
class MappedTiles {
 public:
  /// For tiles of one pool, which has so many. The device outlives it.
  MappedTiles(Device& device, std::size_t tiles) : device_(device), tiles_(tiles) {}

  /// The parts in the device's addresses. Empty if the device does not see the tile's memory, because that was not
  /// pinned.
  ///
  /// Throws: as Device::mapped.
  std::optional<TileParts> find(Tile const& tile) {
    if (tile.index() >= tiles_.size()) return std::nullopt;
    Known& known = tiles_[tile.index()];
    if (!known.asked) {
      known.parts = see(tile);
      known.asked = true;
    }
    return known.parts;
  }

 private:
  struct Known {
    bool asked = false;
    std::optional<TileParts> parts = {};
  };
  std::optional<TileParts> see(Tile const& tile) {
    auto const input = device_.mapped(tile.input());
    auto const output = device_.mapped(tile.output());
    if (!input || !output) return std::nullopt;
    TileParts parts{.input = *input, .output = *output};
    for (std::size_t i = 0; i < parts.more_inputs.size(); ++i) {
      auto const more = device_.mapped(tile.input(i + 1));
      if (!more) return std::nullopt;
      parts.more_inputs[i] = *more;
    }
    return parts;
  }

  Device& device_;
  std::vector<Known> tiles_;  ///< By index.
};

}  // namespace penstock
