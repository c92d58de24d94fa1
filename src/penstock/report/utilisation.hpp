// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "penstock/report/bound.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock {

/// One of the parts that a tile's way leads through, and how near it was to the most it can do.
///
/// Units: tiles per second.
struct PartUse {
  Bound part = Bound::nothing_measured;
  double share = 0;                    ///< The greater of `time` and rate / ceiling; from 0 to 1.
  std::optional<double> time = {};     ///< How much of its time it was in use.
  std::optional<double> ceiling = {};  ///< What it comes to alone.
  double most = 0;                     ///< What it would allow if it never waited: rate / share.
  /// The same, of a part that is not the bound: between what its time says, in which it also waited for others, and
  /// what it comes to alone, where no other part was in its way.
  double likely() const noexcept;
};

/// How much each part of a run was in use.
struct Utilisation {
  double rate = 0;  ///< Tiles per second.
  double payload =
      0;  ///< Bytes per tile by which throughput is told: up; down, if none go up; else what there is room for.
  std::vector<PartUse> parts = {};  ///< Those of which something is known.
  /// What producers did of their time, in sum 1. Empty if there are none.
  struct Producers {
    double borrowing = 0, filling = 0, waiting = 0;  ///< For a tile; in the source; for their turn in the source.
  };
  std::optional<Producers> producers = {};
  /// Tiles per second at which the host has no CPU left, if all threads were to do more of the same. Infinite if
  /// unknown.
  double cpus_most = 0;

  PartUse const* find(Bound part) const noexcept;
  /// The one with the greatest share but for some, the first of equals; null if there is none.
  PartUse const* busiest(std::initializer_list<Bound> but_for = {}) const noexcept;
};

/// Shape: wall and tiles are not 0.
Utilisation utilisation_of(RunFigures const& figures, Ceilings const& ceilings);

}  // namespace penstock
