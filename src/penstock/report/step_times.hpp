// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/recorder.hpp"

namespace penstock {

/// How long the tiles of a recording were in one step.
struct StepTimes {
  Step step = Step::borrow;
  std::uint64_t passages = 0;
  std::chrono::nanoseconds total{0};
  std::chrono::nanoseconds mean{0};
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds most{0};
};

/// Those steps that a tile was in, in the order of the way.
std::vector<StepTimes> step_times(Recording const& recording);

/// For how long a row of a recording was busy.
///
/// A thread that waits is not: neither for a tile, nor for the device. A queue is busy while a tile waits in it.
struct RowTimes {
  std::string name;
  RecordRow::Kind kind = RecordRow::Kind::thread;
  std::chrono::nanoseconds busy{0};
  double share = 0;  ///< Of the time from the recording's first passage to its last; 0 if that is none.
};

/// All rows, in their order. Of a recording that did not look at every tile, only what it saw.
std::vector<RowTimes> row_times(Recording const& recording);

}  // namespace penstock
