// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane_shape.hpp"

#include "penstock/core/words.hpp"

namespace penstock {

std::string_view to_string(LaneShape shape) noexcept {
  switch (shape) {
    case LaneShape::split:
      return "split";
    case LaneShape::single:
      return "single";
  }
  return "";
}

std::string lane_shape_names() {
  return words_for(all_lane_shapes);
}

LaneShape parse_lane_shape(std::string_view name) {
  return parse_word(all_lane_shapes, name, "shape");
}

}  // namespace penstock
