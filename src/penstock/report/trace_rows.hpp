// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/recording.hpp"
#include "penstock/report/overlap.hpp"

namespace penstock {

/// Where the passages of a recording are drawn: on rows on which any two are apart or, for a thread, one within the
/// other.
///
/// A row of the recording on which others meet is drawn as several, a queue as none: its passages are drawn one by one.
struct TraceRows {
  static constexpr std::uint32_t nowhere = 0;

  struct Row {
    std::uint32_t number = nowhere;  ///< From 1; threads come first, then streams, in the recording's order.
    std::string name;  ///< The recording's; " (2)" and so on behind it, if it is not the first of several.
  };
  std::vector<Row> rows;
  std::vector<std::uint32_t>
      order;  ///< All passages by their numbers: by begin, of those that begin together the longest first.
  std::vector<std::uint32_t> row_of;  ///< For each passage a row's number, or `nowhere`.
};

TraceRows trace_rows(Recording const& recording);

/// When one engine of a device was at work for any stream.
struct EngineTimes {
  std::string engine;
  Intervals busy;
};

/// All engines that rows of the recording name, in the order in which they are first named. Where not every tile was
/// looked at, an engine was at work at other times as well.
std::vector<EngineTimes> engine_times(Recording const& recording);

}  // namespace penstock
