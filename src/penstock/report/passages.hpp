// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/recording.hpp"
#include "penstock/report/overlap.hpp"

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

/// Where a passage stands among those of its tile.
enum class WayPart : std::uint8_t {
  none,    ///< It waits in a queue, lasts no time, or is the only one.
  first,   ///< Before all others.
  middle,  ///< Between two.
  last,    ///< After all others.
};

/// A recording by tile. A sequence must mean one tile throughout, so a recording is of one run.
struct TileWays {
  std::vector<WayPart> parts;  ///< For each passage, in the recording's order.
  /// For each tile that was on a device: from the first of its steps from enqueue to notice to the last.
  std::vector<Interval> in_flight;
  /// For each tile that was lent: from the end of its borrow, or the first step after that, to the last.
  std::vector<Interval> away;
};

TileWays tile_ways(Recording const& recording);

/// How many tiles were in flight on average, from the first that was to the last; 0 if none was. If not every tile was
/// looked at, those that were stand for the others.
double mean_in_flight(Recording const& recording);

/// How long the device uploaded, or computed, for a tile while its lane still gave it the work for that tile or for
/// others of its batch: the longer of the two, in sum over all tiles. Much of the time that lanes need for that, if a
/// stage waits for the device; else little. If not every tile was looked at, those that were stand for the others.
std::chrono::nanoseconds at_work_meanwhile(Recording const& recording);

/// What of a recording lies from `from` to `to`; passages that only touch it are cut there.
///
/// Units: nanoseconds since the recording began.
Recording within(Recording const& recording, std::int64_t from, std::int64_t to);

/// A stretch from the middle of a recording, with all passages that touch it, uncut, and no more than `most` of them;
/// all of a recording that has no more.
Recording middle_of(Recording const& recording, std::size_t most);

}  // namespace penstock
