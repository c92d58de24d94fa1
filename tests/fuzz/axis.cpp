// SPDX-License-Identifier: Apache-2.0
// "NAME=LIST" is an axis of a sweep or is refused with a sentence.
#include "programs/measure/axis.hpp"

#include <set>

#include "fuzz/harness.hpp"

#include "penstock/error.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  std::string const name(take_until(input, '='));
  measure::Axis axis;
  try {
    axis = measure::parse_axis(name, std::string(input));
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::bad_argument, "a refusal is of what was given");
    return;
  }
  require(!axis.values.empty() && axis.values.size() <= measure::most_values, "an axis has 1 to 64 values");
  require(std::set(axis.values.begin(), axis.values.end()).size() == axis.values.size(), "none of them twice");
  try {
    require(measure::points_of({&axis, 1}).size() == axis.values.size(), "each value is a point");
    require(measure::axis_of(name, axis.values).values == axis.values, "each value is said as in results");
  } catch (Error const& error) {
    require(false, error.what());
  }
}

}  // namespace penstock::fuzz
