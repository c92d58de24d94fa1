// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "anyprogram/watched/fault_kind.hpp"
#include "anyprogram/watched/gaps.hpp"
#include "anyprogram/watched/model.hpp"
#include "anyprogram/watched/no_help.hpp"

namespace penstock::cli {

/// A thread and a call that show a fault, with the sums over all of the kind there.
struct FaultPlace {
  std::uint32_t thread = 0;
  std::string call = {};
  std::string stream = {};
  std::uint32_t correlation = 0;  ///< Correlation of the one that cost most.
  std::uint64_t count = 0;
  std::int64_t cost = 0;
  std::int64_t most = 0;  ///< Greatest cost of one of them.
};

struct Fault {
  FaultKind kind = FaultKind::pageable;
  std::uint64_t count = 0;
  /// Nanoseconds lost by it, at most the difference of the measured time and the possible one. Several faults may share
  /// them.
  std::int64_t cost = 0;
  std::vector<FaultPlace> worst = {};  ///< The costliest first, three at most.
};

struct Findings {
  std::vector<Fault> faults = {};  ///< The costliest first; none that costs less than a hundredth of the time.
  std::map<FaultKind, std::uint64_t> counts = {};  ///< Number of faults of each kind, also of those that cost too
                                                   ///< little to be listed.
  std::vector<GapSum> gaps = {};
  std::vector<NoHelp> no_help = {};  ///< All five.
};

/// Source: the checklist "Putting It All Together", and "When Streams Don't Help", of the texts on production streams.
Findings find_faults(WatchModel const& model);

}  // namespace penstock::cli
