// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lane_shape.hpp"

#include "penstock/core/error.hpp"

namespace penstock {

std::string_view to_string(LaneShape shape) noexcept {
  switch (shape) {
    case LaneShape::split:
      return "split";
    case LaneShape::single:
      return "single";
    case LaneShape::adaptive:
      return "adaptive";
  }
  return "";
}

std::string lane_shape_names() {
  std::string names;
  for (LaneShape const shape : all_lane_shapes) {
    if (!names.empty()) names += ", ";
    names += to_string(shape);
  }
  return names;
}

LaneShape parse_lane_shape(std::string_view name) {
  for (LaneShape const shape : all_lane_shapes) {
    if (to_string(shape) == name) return shape;
  }
  throw Error(ErrorKind::bad_argument,
              "There is no shape '" + std::string(name) + "': choose from " + lane_shape_names() + ".");
}

}  // namespace penstock
