// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "programs/measure/setting.hpp"

namespace penstock::measure {

/// A name and the values that a sweep gives it, in the form of results.
struct Axis {
  std::string name;
  std::vector<std::string> values;

  bool swept() const noexcept { return values.size() > 1; }
};

/// The axis of a list "1,2,4", of a range "1..4", or of a multiplied one, "1..16*2"; these may be mixed by commas. It
/// is an axis of the job of the setting `of`.
///
/// Shape:  at most `most_values` values, none of them twice.
/// Throws: Error of kind bad_argument, if the list is not valid or a value is not of that axis; the text says what
/// would do.
Axis parse_axis(std::string const& name, std::string const& list, Setting const& of = {});
/// The axis of these values, with commas or not.
///
/// Shape, Throws: likewise.
Axis axis_of(std::string const& name, std::span<std::string const> values, Setting const& of = {});
inline constexpr std::size_t most_values = 64;

/// One pipeline of a sweep, and its values on the axes.
struct Point {
  Setting setting = {};
  std::vector<std::string> values = {};  ///< One value for each axis.
};

/// All combinations, the last axis changing fastest; each is `begin` except for its axes.
///
/// Throws: Error of kind bad_argument, if there are more than `most_points`.
std::vector<Point> points_of(std::span<Axis const> axes, Setting const& begin = {});
inline constexpr std::size_t most_points = 2048;

}  // namespace penstock::measure
