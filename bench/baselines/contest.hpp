// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "contestant.hpp"

#include "programs/measure/meter.hpp"

namespace baselines {

struct ContestOptions {
  std::vector<std::size_t> sizes = {4UL << 10, 64UL << 10, 1UL << 20, 4UL << 20};  ///< Sizes of tiles, in bytes.
  unsigned rounds = 5;   ///< Rounds; fewer if the time is up, but at least three.
  double seconds = 100;  ///< Approximate duration of the whole contest.
};

/// Result of one contestant for tiles of one size.
struct Standing {
  std::string name;
  bool penstock = false;
  Way way;                                    ///< Its best way.
  std::vector<double> tiles_per_second = {};  ///< One value for each round.
  std::vector<double> cpu_us_per_tile = {};   ///< One value for each round.
};

struct SizeResult {
  std::size_t bytes = 0;
  std::vector<Standing> standings = {};

  /// The baseline with the highest median.
  Standing const& best_baseline() const;
  /// Tiles relative to the best baseline, round by round.
  penstock::measure::Spread against_best(Standing const& standing) const;
  /// True if penstock, with one or the other choice of options, was not behind the best baseline in at least one round.
  bool penstock_keeps_up() const;
};

/// Lets all contestants do the same work: first each of their ways once, to find the best; then the best of each in
/// rounds, in another order each time, so that drifts affect all alike. Measurements of the search are not in the
/// results.
///
/// Blocks: for about as long as the options say.
/// Throws: std::runtime_error with the name of the contestant that could not do it, or brought something else back.
std::vector<SizeResult> hold_contest(std::vector<Contestant> const& contestants, ContestOptions const& options,
                                     std::function<void(std::string const& now)> const& progress);

}  // namespace baselines
