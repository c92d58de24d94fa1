// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "penstock/report.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A count that one thread changes and any thread may read.
class LaneCount {
 public:
  /// Release: a thread that reads the new value sees what was counted before it.
  void add(std::uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_release);
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The counts of a lane since the run began.
///
/// A tile is counted in the order of the members, and `read` loads them in the opposite order. So in its result no
/// count is ahead of a count above it. They begin on a cache line of their own, which the lane loses only to a reader.
///
/// Threads: `read`: any, also while the lane counts; all else: the lane's.
struct alignas(64) LaneCounts {
  /// Reasons why the lane queried its device.
  enum class By : std::uint8_t { callback, look, watchdog };

  LaneCount put;
  LaneCount batches;
  LaneCount returned;
  LaneCount found_by[3];  ///< The index is a `By`.
  LaneCount failed;
  LaneCount done;
  LaneCount bytes_up;
  LaneCount bytes_down;

  /// Counts a tile that the lane retires.
  void find(By by) noexcept {
    returned.add(1);
    found_by[static_cast<int>(by)].add(1);
  }
  /// Counts a tile that leaves the lane.
  void end(Completion const& completion) noexcept {
    if (completion.outcome == Outcome::failed) failed.add(1);
    if (!completion.ok()) return;
    done.add(1);
    bytes_up.add(completion.loan->all_filled());
    bytes_down.add(completion.loan->produced);
  }

  /// The counts, without `device`, `waiting` and `lost`, which the lane does not know.
  LaneSnapshot read() const noexcept {
    LaneSnapshot lane;
    lane.bytes_down = bytes_down.value();
    lane.bytes_up = bytes_up.value();
    lane.done = done.value();
    lane.failed = failed.value();
    lane.found = {
        .by_callback = found_by[0].value(), .by_look = found_by[1].value(), .by_watchdog = found_by[2].value()};
    lane.returned = returned.value();
    lane.batches = batches.value();
    lane.put = put.value();
    return lane;
  }
  /// Writes the counts to the report of the run.
  ///
  /// Shape: once the lane counts no longer.
  void write_to(LaneSummary& summary) const noexcept {
    LaneSnapshot const lane = read();
    summary.tiles = lane.done;
    summary.failed = lane.failed;
    summary.batches = lane.batches;
    summary.bytes_up = lane.bytes_up;
    summary.bytes_down = lane.bytes_down;
    summary.found = lane.found;
  }
};

}  // namespace penstock
