// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/verdict/overlap.hpp"
#include "penstock/observe/recording.hpp"

namespace penstock {

/// Times of a recording's tiles in one step.
struct StepTimes {
  Step step = Step::borrow;
  std::uint64_t passages = 0;
  std::chrono::nanoseconds total{0};
  std::chrono::nanoseconds mean{0};
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds most{0};
};

/// Times of all steps that occurred, in the order of the way.
std::vector<StepTimes> step_times(Recording const& recording);

/// Busy time of a row of a recording.
///
/// A thread that waits for a tile or for the device is not busy. A queue is busy while a tile waits in it.
struct RowTimes {
  std::string name;
  RecordRow::Kind kind = RecordRow::Kind::thread;
  std::chrono::nanoseconds busy{0};
  double share = 0;  ///< Part of the time from the recording's first passage to its last; 0 if that time is 0.
};

/// Times of all rows, in their order. If not every tile was recorded, they are those of the recorded tiles.
std::vector<RowTimes> row_times(Recording const& recording);

/// Position of a passage among those of its tile.
enum class WayPart : std::uint8_t {
  none,    ///< It is in a queue, has no duration, or is the only one.
  first,   ///< It is before all others.
  middle,  ///< It is between two others.
  last,    ///< It is after all others.
};

/// The passages of a recording by tile. A sequence must mean one tile throughout, so a recording is of one run.
struct TileWays {
  std::vector<WayPart> parts;  ///< One element for each passage, in the recording's order.
  /// Interval of each tile that was on a device: from the beginning of its first step from enqueue to notice to the end
  /// of the last.
  std::vector<Interval> in_flight;
  /// Interval of each tile that was lent: from the end of its borrow, or the first step after that, to its end.
  std::vector<Interval> away;
};

TileWays tile_ways(Recording const& recording);

/// Average number of tiles in flight, from the first to the last; 0 if none was. If not every tile was recorded, the
/// recorded ones represent the others.
double mean_in_flight(Recording const& recording);

/// Time during which the device uploaded, or computed, for a tile while its lane still passed on the work of that tile
/// or of others of its batch: the longer of the two, summed over all tiles. It is much of the lanes' time for that if a
/// stage waits for the device; else little. If not every tile was recorded, the recorded ones represent the others.
std::chrono::nanoseconds at_work_meanwhile(Recording const& recording);

/// The part of a recording from `from` to `to`; passages and spans that extend beyond it are cut.
///
/// Units: nanoseconds since the recording began.
Recording within(Recording const& recording, std::int64_t from, std::int64_t to);

/// A part from the middle of a recording, with all passages and spans that touch it, uncut, and at most `most` of them;
/// the whole recording if it has no more.
Recording middle_of(Recording const& recording, std::size_t most);

}  // namespace penstock
