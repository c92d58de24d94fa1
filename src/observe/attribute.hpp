// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "observe/lost_tiles.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// The way in which the tiles of a lost device are run again.
struct AttributionTask {
  std::vector<std::string> command = {};  ///< Command, as for attribution().
  bool in_place = false;                  ///< The tiles are processed in place.
  /// A device was abandoned, so the calls of the new process must not wait for kernels.
  bool given_up = false;
  /// Patience of the lanes. A process that reaches no other tile for 10 s more is ended.
  std::chrono::nanoseconds patience;
};

/// Starts processes that run the tiles one at a time, as Replay does, each until a tile fails in it.
///
/// Blocks: until all were tried, or too many failed, or `stop` is requested.
Attribution attribute(LostTiles const& lost, AttributionTask const& task, std::stop_token const& stop);

}  // namespace penstock
