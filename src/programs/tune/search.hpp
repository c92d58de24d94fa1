// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "programs/tune/contest.hpp"

namespace penstock::measure {

/// A point where a search may start if it is better than the defaults, and its name as a move.
struct KnownStart {
  std::string name = {};
  Levels levels = {};
};

struct SearchOptions {
  double within = 60;    ///< Seconds.
  Levels defaults = {};  ///< The start, which the best is also compared with in the end.
  std::vector<KnownStart> known = {};
  /// Called with the next move.
  std::function<void(std::string const& move, Contest const& contest)> progress = {};
};

/// Result of a search.
struct Found : Final {
  std::vector<Attempt> attempts = {};  ///< Attempts in the order in which they were first tried.
  std::size_t runs = 0;
  bool all = true;  ///< The search came to its end; false if it was stopped or the time ran out before.
};

/// Looks for the highest point of a landscape in few measurements, however noisy: docs/tune.md says how.
///
/// Among points that are as good as the best, as far as can be told, it takes the one that costs least.
///
/// Shape:  `defaults` and each of `known` has a level for each axis.
/// Blocks: for `within` seconds at most, but for the measurements of the defaults, and of what is known beside them,
/// that there always are.
Found search(std::vector<SearchAxis> const& axes, Landscape& landscape, SearchOptions const& options,
             std::stop_token const& stop);

}  // namespace penstock::measure
