// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/recorder.hpp"
#include "penstock/report/intervals.hpp"

namespace penstock {

/// Where a passage stands among those of its tile.
enum class WayPart : std::uint8_t {
  none,    ///< It waits in a queue, lasts no time, or is the only one.
  first,   ///< Before all others.
  middle,  ///< Between two.
  last,    ///< After all others.
};

/// A recording by tile. A sequence must mean one tile throughout, so a recording is of one run.
struct TileWays {
  std::vector<WayPart> parts;  ///< For each passage, in the recording's order.
  /// For each tile that was on a device: from the first of its steps from enqueue to notice to the last.
  std::vector<Stretch> in_flight;
  /// For each tile that was lent: from the end of its borrow, or the first step after that, to the last.
  std::vector<Stretch> away;
};

TileWays tile_ways(Recording const& recording);

/// How many tiles were in flight on average, from the first that was to the last; 0 if none was. If not every tile was
/// looked at, those that were stand for the others.
double mean_in_flight(Recording const& recording);

}  // namespace penstock
