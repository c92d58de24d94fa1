// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/watch/model.hpp"

namespace penstock::cli {

/// What keeps a program's work from running at once, in the order in which those come that cost the same.
enum class FaultKind : std::uint8_t {
  pageable,     ///< Asynchronous copies from or to memory that is not pinned.
  one_stream,   ///< All work in one stream.
  legacy,       ///< Work in the legacy default stream, beside that of other streams.
  host_blocks,  ///< A thread that waits for the device again and again, while no other stream has work.
  slow_calls,   ///< Allocation, pinning and loading, while nothing ran.
  host_late,    ///< Nothing ran, because no thread had asked for anything.
  queued,       ///< Nothing ran, though work was asked for.
};

/// A thread and a call by which a fault shows, with all of its kind there.
struct FaultPlace {
  std::uint32_t thread = 0;
  std::string call = {};
  std::string stream = {};
  std::uint32_t correlation = 0;  ///< Of the one that cost most.
  std::uint64_t count = 0;
  std::int64_t cost = 0;
  std::int64_t most = 0;  ///< That one of them cost.
};

struct Fault {
  FaultKind kind = FaultKind::pageable;
  std::uint64_t count = 0;
  /// Nanoseconds that are lost by it, at most those that are between the time it took and the possible one. Those of
  /// several faults may be the same.
  std::int64_t cost = 0;
  std::vector<FaultPlace> worst = {};  ///< The costliest first, three at most.
};

/// Gaps in which nothing ran between the first start and the last end, by their reason.
struct GapSum {
  FaultKind why = FaultKind::host_late;  ///< Or host_blocks, slow_calls, queued.
  std::uint64_t count = 0;
  std::int64_t time = 0;
};

/// Why streams will not help, or will help little.
struct NoHelp {
  std::string reason = {};  ///< "kernels", "link", "host", "small", "barriers".
  bool holds = false;
  std::string sentence = {};
};

struct Findings {
  std::vector<Fault> faults = {};  ///< The costliest first; only those that there are.
  std::vector<GapSum> gaps = {};
  std::vector<NoHelp> no_help = {};  ///< All five.
};

/// Source: the checklist "Putting It All Together", and "When Streams Don't Help", of the texts on production streams.
Findings find_faults(WatchModel const& model);

/// "pageable", "one_stream" and so on.
std::string_view fault_name(FaultKind kind);
/// What it is, in a few words, and what to do.
std::string_view fault_words(FaultKind kind);
std::string_view fault_advice(FaultKind kind);

}  // namespace penstock::cli
