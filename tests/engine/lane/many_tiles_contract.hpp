// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lane/lane_contract.hpp"

namespace penstock {

/// Every signal once.
std::vector<LaneUnderTest> one_lane_per_signal_on(DeviceUnderTest const& device);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t many_tiles = std::size_t{1} << 13;  // All would take 15 s for each signal.
#else
inline constexpr std::size_t many_tiles = Pool::max_tiles;
#endif

/// Many small tiles: all that a pool can have, or fewer under a sanitizer.
struct LaneOfManyTiles : LaneContract {
  LaneOfManyTiles() : LaneContract(64, many_tiles) {}
};

}  // namespace penstock
