// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/recording.hpp"

namespace penstock {

/// What is said of a trace as a whole: names and values.
using TraceNotes = std::vector<std::pair<std::string, std::string>>;

/// What a trace says of where it comes from.
struct TraceFacts {
  std::string process = "penstock";
  std::uint32_t number = 1;  ///< Of the process; other traces that this one is joined with have others.
  TraceNotes facts = {};     ///< Machine, options: names and values.
};

/// Writes a recording of one run in Chrome's JSON format, which Perfetto (ui.perfetto.dev) and chrome://tracing show.
///
/// Each thread and each stream is a row, and where passages on it meet without one being within the other, or meet on a
/// stream at all, several; tiles in a queue are shown one by one. Below them each engine is a row, which says when any
/// stream had it at work. Flows follow a tile through its passages. Counters say how many tiles were in flight, how
/// many away from home and, if the recording is of every tile and knows the pool, how many home. Passages go out in the
/// order of time, one a line, and nothing but numbers is kept until then: 9 bytes a passage and 24 more in a queue or
/// 72 more on a device, and 96 a tile.
///
/// Units:  microseconds from the recording's beginning, or from its first passage if that was earlier.
/// Throws: nothing of its own; whether all was written `out` knows.
void write_trace(std::ostream& out, Recording const& recording, TraceFacts const& facts = {});

}  // namespace penstock
