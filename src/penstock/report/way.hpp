// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "penstock/report/utilisation.hpp"

namespace penstock {

/// One way of the link, and what is known of it.
struct Way {
  std::string name;
  PartUse const* use = nullptr;  ///< Null if nothing goes that way.
  std::optional<double> link = {};
  std::optional<double> one_way = {};  ///< What copies like the run's come to with none the other way.
  double bytes = 0;                    ///< Of a tile.

  /// Tiles per second; infinite if nothing goes that way.
  double most() const;
  bool known() const { return use != nullptr && use->ceiling && link && *link > 0; }
  /// Seconds that a tile's copy takes alone, and those of them in which its bytes move; of a way that is known.
  double alone() const { return 1 / *use->ceiling; }
  double moving() const;
  /// Seconds of `alone` that are lost before its bytes move; what the other way takes from this one is not.
  double set_up() const;
  /// Tiles per second, if so many of them were one copy.
  double most_with(double together) const;
};

Way way_up(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);
Way way_down(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

/// Tiles per second that all parts together, but for CPUs, allow if a lane puts so many times as many on the device at
/// once: the calls for a batch and the set-up of its copies hardly depend on its tiles, each of which is taken back by
/// itself.
double most_with_batches(double times, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

}  // namespace penstock
