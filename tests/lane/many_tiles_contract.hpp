// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lane/lane_contract.hpp"

namespace penstock {

/// Every signal once.
std::vector<LaneUnderTest> one_lane_per_signal_on(DeviceUnderTest const& device);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t many_tiles = std::size_t{1} << 13;  // All that a pool can have take a quarter of a minute.
#else
inline constexpr std::size_t many_tiles = Pool::max_tiles;
#endif

/// As many tiles as a pool can have, and they are small.
struct LaneOfManyTiles : LaneContract {
  LaneOfManyTiles() : LaneContract(64, many_tiles) {}
};

}  // namespace penstock
