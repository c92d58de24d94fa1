// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/observe/lost_tiles.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// How the tiles of a lost device are run again.
struct AttributionTask {
  std::vector<std::string> command = {};  ///< As of attribution().
  bool in_place = false;                  ///< The tiles are.
  /// A device was given up, so the calls of the new process must not wait for kernels.
  bool given_up = false;
  /// As the lanes have. A process that comes to no other tile for 10 s more is ended.
  std::chrono::nanoseconds patience;
};

/// Starts processes that run them one at a time, as Replay does, each until a tile fails in it.
///
/// Blocks: until all were tried, or too many failed, or `stop` is requested.
Attribution attribute(LostTiles const& lost, AttributionTask const& task, std::stop_token const& stop);

}  // namespace penstock
