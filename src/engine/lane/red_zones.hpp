// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "penstock/tile.hpp"

namespace penstock {

/// Bytes before and behind each part of a slot in which a stage has no business. They are painted before a tile gets
/// the slot, and looked at when the device has finished with it. So a stage that writes one element too many is found,
/// and the tile for which it did so is named. They are for a CPU device, whose memory the host may read.
///
/// Threads: the lane's. It allocates only what a failure needs.
class RedZones {
 public:
  /// Bytes of each zone.
  static constexpr std::size_t bytes = TileShape::alignment;

  /// The shape of a slot for such a tile, with its zones.
  static TileShape around(TileShape shape) noexcept;
  /// The parts of the tile within those of a slot that has zones.
  static TileParts within(TileParts const& slot, TileShape const& shape) noexcept;

  /// Paints the zones around a tile's parts in a slot, and what of its inputs is not filled.
  static void paint(TileParts const& parts, Tile const& tile) noexcept;
  /// Tells what was written that should not be, as a failure of the stage; null if there is nothing.
  static std::shared_ptr<Failure const> look(TileParts const& parts, Tile const& tile);
};

}  // namespace penstock
