// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/lane/lost_tiles.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// How the tiles of a lost device are run again.
struct AttributionTask {
  std::vector<std::string> command = {};  ///< As Watching::attribute_command.
  bool in_place = false;                  ///< The tiles are.
  std::chrono::nanoseconds patience;      ///< A process that comes to no other tile in that time is ended.
};

/// Starts processes that run them one at a time, as Replay does, each until a tile fails in it.
///
/// Blocks: until all were tried, or too many failed, or `stop` is requested.
Attribution attribute(LostTiles const& lost, AttributionTask const& task, std::stop_token const& stop);

}  // namespace penstock
