// SPDX-License-Identifier: Apache-2.0
// A pipeline while it runs: how far it is, and how fast between two looks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock {

/// How lanes learned that their device had passed tiles.
struct FoundTiles {
  /// When a ticket came: a callback or host function of the driver, or the thread of `event_block`, had brought it.
  std::uint64_t by_callback = 0;
  std::uint64_t by_look = 0;      ///< When the lane asked its device, or read what the device wrote, by itself.
  std::uint64_t by_watchdog = 0;  ///< When the watchdog woke the lane: the signal was lost, or late.

  std::uint64_t all() const noexcept { return by_callback + by_look + by_watchdog; }
  FoundTiles& operator+=(FoundTiles const& other) noexcept;
  friend bool operator==(FoundTiles const&, FoundTiles const&) = default;
};

/// "62 % by callback, 38 % by looking, 0 % by the watchdog"; empty if there are no tiles.
std::string describe(FoundTiles const& found);

/// What a lane has done of a run so far, and what it has to do.
struct LaneSnapshot {
  std::size_t device = 0;      ///< Its place in Snapshot::devices.
  std::uint64_t put = 0;       ///< Tiles that it has put on its device.
  std::uint64_t returned = 0;  ///< Of these, it has back.
  std::uint64_t done = 0;      ///< Of these, are done.
  std::uint64_t failed = 0;    ///< Tiles that it got and that failed, for any reason.
  std::uint64_t batches = 0;   ///< In which tiles were put.
  std::uint64_t bytes_up = 0;  ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_down = 0;
  FoundTiles found = {};
  std::size_t waiting = 0;  ///< Tiles that it has and has not put yet, about.
  bool lost = false;        ///< Its device serves no tile any more.

  /// Tiles on the device.
  std::uint64_t in_flight() const noexcept { return put - returned; }
};

/// The sum of a device's lanes.
struct DeviceSnapshot {
  std::string name;  ///< As device_name: "cuda:1".
  unsigned lanes = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  unsigned lanes_lost = 0;  ///< Lanes whose device serves no tile any more.
};

/// The tiles of a pipeline's pool.
struct PoolSnapshot {
  std::size_t tiles = 0;
  std::size_t lent = 0;       ///< On loan.
  std::size_t home = 0;       ///< Free to be lent.
  std::size_t stranded = 0;   ///< Will never be lent again (docs/faults.md); on loan as long as their loans live.
  std::size_t borrowers = 0;  ///< Threads that sleep until a tile is home.
};

/// Where a pipeline is at one moment. The counts are those of the run that goes on, and 0 between two runs.
///
/// Other threads work on meanwhile, so counts are not all of one instant; but in every snapshot hold:
///   done + failed + cancelled <= submitted; sink_failures <= done + failed + cancelled
///   done <= the lanes' `done`, which are <= their `returned`, <= their `put`, <= submitted in all
///   a lane's found.all() <= its `returned`
///   lent + home <= tiles of the pool
/// No count is less than in a snapshot of the same run that was taken before. In the last one of a run that drains,
/// done + failed + cancelled is submitted.
struct Snapshot {
  std::chrono::steady_clock::time_point at = {};
  std::uint64_t run =
      0;  ///< Which run of the pipeline: 1, 2 ...; of the last one between two runs, 0 before the first.
  bool running = false;
  std::uint64_t submitted = 0;  ///< Tiles that came in, from producers or a Feed.
  std::uint64_t done = 0;       ///< Tiles that came to the sink and are done.
  std::uint64_t failed = 0;     ///< The same of those that failed.
  std::uint64_t cancelled = 0;  ///< And of those that were cancelled.
  std::uint64_t sink_failures = 0;
  std::vector<LaneSnapshot> lanes = {};
  std::vector<DeviceSnapshot> devices = {};  ///< In the pipeline's order.
  PoolSnapshot pool = {};

  /// Tiles that came in and are not at the sink yet.
  std::uint64_t under_way() const noexcept { return submitted - done - failed - cancelled; }
  /// Tiles on the devices.
  std::uint64_t in_flight() const noexcept;
  std::uint64_t bytes_up() const noexcept;
  std::uint64_t bytes_down() const noexcept;
  FoundTiles found() const noexcept;
};

/// What went on between two snapshots.
///
/// Units: seconds; tiles and bytes a second.
struct Rates {
  double seconds = 0;
  double submitted = 0;
  double done = 0;  ///< As Snapshot::done.
  double failed = 0;
  double bytes_up = 0;
  double bytes_down = 0;
  std::vector<double> devices = {};  ///< Tiles done of each.
  FoundTiles found = {};             ///< Tiles, no rate.
};

/// Empty if the two are not of the same run, or `later` is not later.
std::optional<Rates> rates(Snapshot const& earlier, Snapshot const& later);

/// In a line, for a person: how many tiles are where.
std::string describe(Snapshot const& snapshot);

}  // namespace penstock
