// SPDX-License-Identifier: Apache-2.0
// Counts of a running pipeline, and its rates between two snapshots.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/clock.hpp"

namespace penstock {

/// Numbers of tiles by the way in which lanes learned that their device had passed them.
///
/// Units: tiles.
struct FoundTiles {
  /// A ticket came, from a callback or host function of the driver, or from the thread of `event_block`.
  std::uint64_t by_callback = 0;
  std::uint64_t by_look = 0;      ///< The lane queried its device, or read a flag that the device wrote.
  std::uint64_t by_watchdog = 0;  ///< The watchdog had woken the lane: the signal was lost or late.

  std::uint64_t all() const noexcept { return by_callback + by_look + by_watchdog; }
  FoundTiles& operator+=(FoundTiles const& other) noexcept;
  friend bool operator==(FoundTiles const&, FoundTiles const&) = default;
};

/// "62 % by callback, 38 % by looking, 0 % by the watchdog"; empty if there are no tiles.
std::string describe(FoundTiles const& found);

/// The counts of one lane since the run began, and the number of tiles that wait for it.
struct LaneSnapshot {
  std::size_t device = 0;        ///< The index of its device in Snapshot::devices.
  std::uint64_t put = 0;         ///< Tiles that the lane has put on its device.
  std::uint64_t returned = 0;    ///< Tiles of these that it has retired.
  std::uint64_t done = 0;        ///< Tiles of those retired whose outcome is done.
  std::uint64_t failed = 0;      ///< Tiles that the lane took and that failed, for any reason.
  std::uint64_t batches = 0;     ///< Batches that it has put on its device.
  std::uint64_t bytes_up = 0;    ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_down = 0;  ///< Produced bytes of the tiles that are done.
  FoundTiles found = {};
  std::size_t waiting = 0;  ///< Tiles that the lane has and has not put on its device yet. Approximate.
  bool lost = false;        ///< The device serves no tile any more.

  /// Tiles on the device.
  std::uint64_t in_flight() const noexcept { return put - returned; }
};

/// The sum of a device's lanes.
struct DeviceSnapshot {
  std::string name;  ///< The device_name: "cuda:1".
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
  std::size_t lent = 0;      ///< Tiles on loan.
  std::size_t home = 0;      ///< Tiles that are free.
  std::size_t stranded = 0;  ///< Tiles that will never be lent again (docs/faults.md). While their loans live, they are
                             /// in `lent`.
  std::size_t borrowers = 0;  ///< Threads that sleep until a tile is free.
};

/// The state of a pipeline at one moment. The counts are those of the current run; between two runs they are 0.
///
/// Other threads continue while a snapshot is taken, so its counts are not of one instant. But these relations hold in
/// every snapshot:
///   done + failed + cancelled <= submitted; sink_failures <= done + failed + cancelled
///   done <= the lanes' `done`, which are <= their `returned`, <= their `put`, <= submitted in all
///   a lane's found.all() <= its `returned`
///   lent + home <= tiles of the pool
/// No count is less than in an earlier snapshot of the same run. In the last snapshot of a run that drains,
/// done + failed + cancelled equals submitted.
struct Snapshot {
  Clock::time_point at = {};  ///< Time of the snapshot.
  /// The number of the run, from 1. Between two runs it is that of the last run, and before the first it is 0.
  std::uint64_t run = 0;
  bool running = false;
  std::uint64_t submitted = 0;      ///< Tiles that producers or a Feed submitted.
  std::uint64_t done = 0;           ///< Tiles that reached the sink and are done.
  std::uint64_t failed = 0;         ///< Tiles that reached the sink and failed.
  std::uint64_t cancelled = 0;      ///< Tiles that reached the sink and were cancelled.
  std::uint64_t sink_failures = 0;  ///< Tiles on which the sink threw.
  std::vector<LaneSnapshot> lanes = {};
  std::vector<DeviceSnapshot> devices = {};  ///< Devices in the pipeline's order.
  PoolSnapshot pool = {};

  /// Tiles that were submitted and have not reached the sink.
  std::uint64_t under_way() const noexcept { return submitted - done - failed - cancelled; }
  /// Tiles on the devices.
  std::uint64_t in_flight() const noexcept;
  std::uint64_t bytes_up() const noexcept;
  std::uint64_t bytes_down() const noexcept;
  FoundTiles found() const noexcept;
};

/// The rates of a pipeline between two snapshots.
///
/// Units: tiles per second and bytes per second, unless a member states another.
struct Rates {
  double seconds = 0;    ///< Seconds between the two snapshots.
  double submitted = 0;  ///< Rate of Snapshot::submitted; the next two are rates of their namesakes.
  double done = 0;
  double failed = 0;
  double bytes_up = 0;
  double bytes_down = 0;
  std::vector<double> devices = {};  ///< Tiles that each device did, in the order of Snapshot::devices.
  FoundTiles found = {};             ///< A number of tiles, not a rate.
};

/// The rates between two snapshots. Empty if they are not of the same run, if that run had ended, or if `later` was not
/// taken later.
std::optional<Rates> rates(Snapshot const& earlier, Snapshot const& later);

/// One line for a person: the numbers of tiles by place.
std::string describe(Snapshot const& snapshot);

/// One line for a person who watches: bytes and tiles per second between two snapshots, failures, and the part that the
/// run waits for: "1.2 GB/s in, 1150 tiles/s; 12 of 16 tiles lent; waits for the device". This is the part with the
/// most tiles, or the source if a tile is free. The rates are omitted if there are none.
std::string live_line(Snapshot const& earlier, Snapshot const& later);

}  // namespace penstock
