// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tools/tune/contest.hpp"
#include "tools/tune/landscape.hpp"

namespace penstock::measure {

/// What wins in the end.
struct Final {
  std::optional<Levels> best = {};  ///< Empty if nothing could be measured.
  std::vector<double> best_scores = {};
  std::vector<double> defaults_scores = {};  ///< Empty if the defaults failed.
  /// The scores are of runs in turn, one of each a round; without time for that they are all there were, and the best
  /// is the last entrant, or the defaults if theirs are higher in the middle.
  bool held = false;
};

/// Measures the entrants several times in turn. Of those that are as good as the best, as far as can be told, the one
/// that costs least wins.
///
/// Shape: the defaults, and what was found, the best last.
Final hold_final(Contest& contest, Landscape const& landscape, std::vector<Levels> const& entrants);

}  // namespace penstock::measure
