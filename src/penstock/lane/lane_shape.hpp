// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// How many streams a lane spreads a tile's steps over.
enum class LaneShape : std::uint8_t {
  split,   ///< One each for upload, stage and download, ordered by events: one lane keeps all of a device busy.
  single,  ///< All steps in the compute stream: fewer calls, and other lanes must fill the gaps.
};

inline constexpr std::array all_lane_shapes{LaneShape::split, LaneShape::single};

/// As users write it: "split" and so on.
std::string_view to_string(LaneShape shape) noexcept;
/// Of all shapes, with commas between.
std::string lane_shape_names();
/// Throws: Error, with all names, for any other text.
LaneShape parse_lane_shape(std::string_view name);

}  // namespace penstock
