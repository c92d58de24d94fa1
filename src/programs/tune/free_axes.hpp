// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/options.hpp"
#include "programs/measure/axis.hpp"
#include "programs/tune/contest.hpp"

namespace penstock::measure {

/// True if the user must choose that axis, and no search for what is `sought` does.
bool is_job(std::string const& name, Aim sought);

/// Bounds of a search on a machine.
struct SearchBounds {
  unsigned cpus = 1;  ///< CPUs that can be busy at once.
  bool gpu = false;
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  ///< Bytes of tiles that a point may pin.
};

/// Axes by name, with a list of their values.
using AxisLists = std::vector<std::pair<std::string, std::string>>;
/// Stands for an axis in place of a list: whatever values may be worth trying.
inline constexpr char const* free_axis = "free";

/// The setting of these lists without a search: the first value of each, and the pipeline's own choice for free axes;
/// `begin` has the values that are in no list, and the job of the lists.
///
/// Throws: Error of kind bad_argument, if a list is not valid, if the job (work, fill, direction, streams, sink, and
/// for latency tile) has several values or is free, or if it is not possible.
Setting default_setting(AxisLists const& lists, Aim sought = Aim::throughput, Setting const& begin = {});

/// The axes of a search. An axis with the list "free" has the values that are worth trying within the bounds, including
/// its default; any other has those of its list. Counts and sizes are in increasing order.
///
/// Shape:  `lists` names every axis of a Setting; `defaults` are what the pipeline makes of them by itself.
/// Throws: Error of kind bad_argument, if a list is not valid.
std::vector<Axis> search_axes(AxisLists const& lists, PipelineOptions const& defaults, SearchBounds const& bounds,
                              Setting const& begin = {});
/// True if the values of an axis lie in an order in which neighbours have similar results.
bool ordered(Axis const& axis);
/// The pipeline at these levels of the axes, and with the other values of `begin`.
Point point_at(std::vector<Axis> const& axes, Levels const& levels, Setting const& begin = {});
/// Adds the values of `known` to the axes that are free in `lists`, each in its place.
///
/// Throws: Error of kind bad_argument, if one of these is no value of its axis.
void add_known(std::vector<Axis>& axes, AxisLists const& lists, AxisLists const& known);
/// `levels`, but with the values of `known` where axes have them.
Levels levels_of_known(std::vector<Axis> const& axes, Levels levels, AxisLists const& known);
/// The levels at which the axes have the values of these options, or the nearest.
Levels levels_of(std::vector<Axis> const& axes, PipelineOptions const& options);

}  // namespace penstock::measure
