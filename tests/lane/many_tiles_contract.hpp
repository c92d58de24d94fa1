// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lane/lane_contract.hpp"

namespace penstock {

/// Every signal once.
std::vector<LaneUnderTest> one_lane_per_signal_on(DeviceUnderTest const& device);

/// As many tiles as a pool can have, and they are small.
struct LaneOfManyTiles : LaneContract {
  LaneOfManyTiles() : LaneContract(64, Pool::max_tiles) {}
};

}  // namespace penstock
