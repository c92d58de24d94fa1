// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/verdict/overlap.hpp"
#include "penstock/observe/recording.hpp"

namespace penstock {

/// The rows on which the passages and spans of a recording are drawn: on each row any two are disjoint or, for a
/// thread, nested.
///
/// A row of the recording with overlapping passages is drawn as several. A queue has no row: its passages are drawn one
/// by one. A span has the index behind those of all passages, in the recording's order.
struct TraceRows {
  static constexpr std::uint32_t nowhere = 0;

  struct Row {
    std::uint32_t number = nowhere;  ///< Number of the row, from 1; threads come first, then streams, in the
                                     /// recording's order.
    std::string name;  ///< The name in the recording; for further rows of the same name with " (2)" and so on.
  };
  std::vector<Row> rows;
  std::vector<std::uint32_t>
      order;  ///< Indices of all passages and spans: by begin; of those with the same begin the longest first.
  std::vector<std::uint32_t> row_of;  ///< The row number of each passage and each span, or `nowhere`.
};

TraceRows trace_rows(Recording const& recording);

/// Times at which one engine of a device worked for any stream.
struct EngineTimes {
  std::string engine;
  Intervals busy;
};

/// All engines that rows of the recording name, in the order in which they are first named. If not every tile was
/// recorded, an engine also worked at other times.
std::vector<EngineTimes> engine_times(Recording const& recording);

}  // namespace penstock
