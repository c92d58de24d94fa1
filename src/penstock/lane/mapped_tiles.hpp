// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "penstock/core/tile.hpp"
#include "penstock/device/device.hpp"

namespace penstock {

/// Where a device itself sees the tiles of a pool; the device is asked once for each tile.
///
/// Threads: the lane's.
class MappedTiles {
 public:
  /// The two parts of a tile, in the device's addresses.
  struct Parts {
    std::span<std::byte> input = {};
    std::span<std::byte> output = {};
  };

  /// For tiles of one pool, which has so many. The device outlives it.
  MappedTiles(Device& device, std::size_t tiles) : device_(device), tiles_(tiles) {}

  /// Empty if the device does not see the tile's memory, because that was not pinned.
  ///
  /// Throws: as Device::mapped.
  std::optional<Parts> find(Tile const& tile) {
    if (tile.index() >= tiles_.size()) return std::nullopt;
    Known& known = tiles_[tile.index()];
    if (!known.asked) {
      auto const input = device_.mapped(tile.input());
      auto const output = device_.mapped(tile.output());
      if (input && output) known.parts = Parts{*input, *output};
      known.asked = true;
    }
    return known.parts;
  }

 private:
  struct Known {
    bool asked = false;
    std::optional<Parts> parts = {};
  };
  Device& device_;
  std::vector<Known> tiles_;  ///< By index.
};

}  // namespace penstock
