// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// One side of a pair: a call of a thread, in a stream.
struct HazardSide {
  std::size_t call = 0;  ///< Index in WatchLog::calls.
  bool writes = false;
};

/// Two calls whose copies, memsets or graphs touch the same bytes, at least one of them by writing, and which only the
/// fence of the legacy default stream keeps in order.
struct Hazard {
  HazardSide first = {};
  HazardSide second = {};
  std::uint64_t address = 0;  ///< Address of bytes that both touch.
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;  ///< Pairs of the same calls, threads and streams; this is the first of them.
};

/// Pairs that would lose their order, if each thread had a default stream of its own.
struct Hazards {
  std::vector<Hazard> pairs = {};
  std::uint64_t count = 0;  ///< Pairs in all.
  /// Pairs of a launch and the last one of another stream that only the fence keeps in order. The bytes that kernels
  /// touch are not known.
  std::uint64_t launches = 0;
  std::uint64_t launches_and_copies = 0;  ///< Such pairs of a launch and a copy, memset or graph.
  std::uint64_t unordered = 0;            ///< Pairs on the same bytes that nothing keeps in order, fence or not.
  /// Pairs that are in order only if a thread that waited for the first notified the thread of the second: no log shows
  /// that. They are not among `pairs`.
  std::uint64_t told = 0;
  /// Copies and launches of graphs whose bytes are not known; they are left out.
  std::uint64_t unknown_bytes = 0;
  bool complete = true;  ///< False if the log was full, cut off, or lost something.
};

/// Looks for pairs by happens-before: once as the program ran, and once without the legacy stream, with a default
/// stream for each thread. It knows order by streams, events, waiting calls and graphs.
Hazards find_hazards(WatchLog const& log);

/// The calls of a pair with their threads and streams, and the number of bytes that they share.
std::string as_text(Hazard const& hazard, WatchLog const& log);
/// A line for each of the most frequent pairs, and one on what is not known; empty if there is nothing to say.
std::string as_text(Hazards const& hazards, WatchLog const& log);

}  // namespace penstock::cli
