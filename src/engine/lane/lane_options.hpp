// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/lane/lane_state.hpp"
#include "engine/lane/tile_bringer.hpp"
#include "engine/machine/cpu_set.hpp"
#include "penstock/options.hpp"
#include "penstock/run_hook.hpp"
#include "penstock/steps.hpp"

namespace penstock {

/// Options of what a lane has on its device.
struct FlightOptions {
  unsigned slots = 4;  ///< Tiles in flight, each with device memory of its own.
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;
  /// With `mapped` slots have no memory. `automatic` maps only where the pool is pinned, else it copies.
  Transport transport = Transport::automatic;
  /// Maximum of bytes for `automatic`, up and down, of mapped tiles in flight at once; `unbounded_mapped_bytes` maps
  /// all. Empty: all on the CPU device, where a copy only costs what a pass over the tile costs, else
  /// `most_mapped_bytes`. A tile that is alone on the device may have `most_lone_mapped_bytes`.
  std::optional<std::size_t> mapped_bytes = {};
  /// Used for copied tiles, if the stage promises Promises::capturable and is asked for one tile at a time.
  Graphs graphs = Graphs::automatic;
  /// Priority of the streams that the lane makes; lower runs first. A thread's default stream has the least priority.
  int priority = 0;
  /// Time that a lane with tiles in flight waits for a device that finishes no tile and no batch. Then it abandons the
  /// device and fails the tiles. Only a kernel that never ends should take so long. The lane itself counts the time, so
  /// not while a GPU with a full queue keeps it in a call of the driver's, as may happen with very many slots. Time in
  /// which the process is stopped does not count (engine/lane/patience.hpp).
  std::chrono::nanoseconds patience = Tuning::usual_patience;
  /// Is told the times of the steps of the tiles that it wants; null for none. It outlives the lane. For each slot the
  /// timer of a Recorder takes as many events again as the flight has, and three more, and two for each input beside
  /// the first.
  StepLog* recorder = nullptr;
  /// Are told of the tiles that a lost device had. They outlive the lane.
  std::span<std::unique_ptr<RunHook> const> hooks = {};
  /// Waits for the device after each step, so that a device that is lost was lost by that step.
  bool step_by_step = false;
  /// Every tile is copied, to a slot with RedZones around it; a tile for which the stage wrote there fails. It needs a
  /// CPU device.
  bool red_zones = false;
  unsigned lane = 0;      ///< Its number, for the names of rows.
  std::size_t tiles = 0;  ///< Tiles of the pool. The lane sets this and its number itself.
};

struct LaneOptions {
  FlightOptions flight = {};
  /// The most tiles that the lane puts on the device at once: as one copy where they are neighbours in the pool, with
  /// one set of events and one ticket. While the device has half of the slots to work on, a tile waits for its block:
  /// this many tiles of the pool make a block, from the first tile on. But at most four whole blocks pass the one
  /// that has waited longest. A batch is never more than half of the slots, so that one comes while another goes.
  /// Beyond 1 MiB it has one tile for every 32 tiles in a row, so that short runs do not wait for large batches.
  unsigned batch = 1;
  SignalKind signal = SignalKind::callback;
  /// Tiles go on the device in the order in which they came, in batches that need not lie side by side in the pool.
  bool in_order = false;
  unsigned spare = 0;  ///< Multiprocessors that the stage is to leave free, as it is told.
  /// Time that a lane with nothing to do spins and watches its device before it sleeps: results sooner, for part of a
  /// core. With a signal that brings no tickets (event_poll, flag) it spins as long as any tile is in flight; or, if
  /// this is 0, it looks every 50 us. But while more than half of the slots are full and hold enough work, it sleeps
  /// instead, at least 50 us at a time, mostly no more than 1 ms. Only `cancel` and `close` wake it. 200 us of work
  /// are enough, if they are 50 us more than half of the slots would hold, by the pace of what came back
  /// (docs/decisions/lanes.md).
  std::chrono::nanoseconds spin{0};
  /// Time that a lane with tiles in flight sleeps before it asks the device itself, in case a signal was lost.
  std::chrono::nanoseconds watchdog = std::chrono::milliseconds(50);
  /// The lane waits for the ends of these lanes before it frees anything; null for none. All must be closed at once.
  std::shared_ptr<EndLatch> ends_with = {};
  /// The lane brings its tiles itself, whenever it has none, and on a CPU device runs the kernels that its stage
  /// launches (StreamRef::compute_here). It outlives the lane. Null: tiles come from other threads.
  TileBringer* bringer = nullptr;
  Ranges* ranges = nullptr;  ///< Is told when the lane gives a tile to its device; may be null. It outlives the lane.
  std::string name = "ps-lane-0";
  CpuSet cpus = {};  ///< CPUs that its thread may run on; empty for any.
};

/// With LaneOptions::spin of this or longer the lane never sleeps, whatever its device has to do.
inline constexpr std::chrono::nanoseconds spin_for_ever = std::chrono::hours(1);

}  // namespace penstock
