// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "penstock/core/ranges.hpp"
#include "penstock/core/recorder.hpp"
#include "penstock/core/tile.hpp"
#include "penstock/flow/aim.hpp"
#include "penstock/flow/host_stage.hpp"
#include "penstock/lane/graphs.hpp"
#include "penstock/lane/lane_shape.hpp"
#include "penstock/lane/patience.hpp"
#include "penstock/lane/signal_kind.hpp"
#include "penstock/lane/stream_mode.hpp"
#include "penstock/lane/transport.hpp"

namespace penstock {

/// How a pipeline is built. A 0 means: what suits this machine.
struct PipelineOptions {
  /// The most producers, lanes or consumers of one pipeline.
  static constexpr unsigned most_threads = 1024;
  /// For `spin` and `borrow_spin`; a longer time means this one.
  static constexpr std::chrono::microseconds for_ever = std::chrono::hours(1);

  TileShape tile = {};
  /// Decides about lanes, batch, slots, tiles, spin and borrow_spin that are left to the pipeline; small tiles of one
  /// pass are not copied with either (`transport`). With `sink_on_lanes` a result is there sooner still.
  Aim aim = Aim::throughput;
  /// Tiles in the pool: the most work in progress, and all the pinned memory there is. 0: enough for all lanes and
  /// producers to be busy, in whole batches; if the tiles that 160 MiB hold are enough, up to a batch more than those
  /// (decisions/0031). With several GPUs and tiles from 1 MiB on, 16 MiB for each GPU and one tile for each producer
  /// and each consumer beyond the first, if neither batch nor slots are asked for (decisions/0050). With Aim::latency
  /// no more than one for each slot, producer and consumer (decisions/0035).
  std::size_t tiles = 0;
  /// Threads that fill, in `run`; those that are not needed rest (decisions/0030). 0: the CPUs that lanes and consumers
  /// leave free.
  unsigned producers = 0;
  /// Threads that drive the devices. 0: one for the CPU device; per GPU one for tiles from 1 MiB on, where more lanes
  /// only hindered each other (bench/flow/one_shot_bench), and two for smaller ones, but one with Aim::latency. Never
  /// fewer than devices.
  unsigned lanes = 0;
  /// Threads in host stages and sink. 0: one, or half as many as CPUs if they may work at once.
  unsigned consumers = 0;
  /// The most tiles that a lane puts on its device at once (LaneOptions::batch). 0: on a GPU 32 MiB of tiles, or 8 MiB
  /// of tiles below 1 MiB, but no more than 128 tiles, no more than a quarter of the slots that are asked for, and with
  /// Aim::latency no more than four tiles if no slots are asked for (decisions/0035); with several GPUs, tiles from 1
  /// MiB on and no slots asked for, 4 MiB or two tiles (decisions/0050); on the CPU device one (decisions/0021, 0026).
  unsigned batch = 0;
  /// Tiles in flight per lane. 0: four batches, more gained nothing (bench/flow/one_shot_bench); on a GPU at least 32
  /// for tiles below 1 MiB (bench/lane/signal_bench), with Aim::latency 16.
  unsigned slots = 0;
  /// How long a lane that has nothing to do watches its device before it sleeps: results come sooner, but it takes a
  /// core while tiles are in flight. While more than half of its slots are full, with work enough, it sleeps instead,
  /// mostly for no more than 1 ms at a time (LaneOptions::spin). Lanes never watch if that would leave fewer than two
  /// CPUs to others, of all or of a node that lanes are bound to. `for_ever`: the lane never sleeps, whatever its
  /// device has to do; with Aim::latency that is what empty means. Else empty: 200 us on a GPU, which covers the
  /// passage of a 4 MiB tile (bench/flow/one_shot_bench); 0 on the CPU device, which needs the cores itself, and with
  /// the signal event_block.
  std::optional<std::chrono::microseconds> spin = {};
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;  ///< Mostly as fast as single or faster (decisions/0013).
  /// Whether stages work on copies of tiles or on the tiles themselves; the latter only those that promise to read
  /// once.
  Transport transport = Transport::automatic;
  /// Whether a stage that promises Promises::capturable is launched as a CUDA graph; LaneSummary::graphs counts the
  /// tiles.
  Graphs graphs = Graphs::automatic;
  SignalKind signal = SignalKind::callback;  ///< As fast as any that may sleep (bench/lane/signal_bench).
  /// Of the streams that lanes make; lower runs first, and the device's DeviceInfo says what it has.
  int priority = 0;
  /// How long a lane bears with a device that finishes none of its tiles, before it abandons the device and fails them:
  /// docs/faults.md. And how long feeding threads wait for each other's tiles, before Feed::borrow says so.
  std::chrono::nanoseconds patience = Patience::usual;
  /// How long one of the threads that wait for a tile, a producer or a thread that feeds, watches for it before it
  /// sleeps, so that the sink need not wake a thread, which takes it 4 to 18 us (bench/core/pool_bench). 0: not at all.
  /// Empty, unless the lanes' spin leaves too few CPUs, of all or of a node: for ever with Aim::latency; else 20 us on
  /// a GPU (decisions/0021), 5 us for tiles from 1 MiB on (decisions/0026), and 0 on the CPU device. The consumer that
  /// has nothing to do watches for a result for the same time.
  std::optional<std::chrono::microseconds> borrow_spin = {};
  bool ordered = false;  ///< The sink sees tiles in the source's order, failed and cancelled ones in their places.
  bool parallel_sink = false;  ///< The sink is called by several consumers at once.
  /// The lane calls the sink itself, the moment it knows that the tile is done: a microsecond sooner
  /// (bench/flow/handoff_bench). For a sink that is short and never waits, since its lane does nothing else meanwhile;
  /// several lanes call at once, and if a tile fails before it reaches a lane, a producer or a consumer calls. Not with
  /// `ordered`.
  bool sink_on_lanes = false;
  /// Is told when each tile that it wants was where, from borrow to sink; null for none. It outlives the pipeline.
  Recorder* recorder = nullptr;
  /// Judges each run: Report::verdict says what bounded it and what to change. The pipeline then keeps a recorder of
  /// its own, which takes 8 MiB and notes some 20,000 tiles, the first ones, and costs what every recorder costs
  /// (docs/performance.md). Not with `recorder`.
  bool watch = false;
  /// Is told what the threads do, while they do it: borrow, fill, host, enqueue, sink. Null for none; it outlives the
  /// pipeline. penstock/nvtx/nvtx_ranges.hpp has one for profilers.
  Ranges* ranges = nullptr;
  bool bind = true;  ///< Keep threads and tiles next to the device.
  std::vector<HostStage> host_stages = {};
};

/// True if tiles go through the oneTBB graph at all; else lanes call the sink, and no host stage is before them.
inline bool enters_graph(PipelineOptions const& options) {
  return !options.sink_on_lanes || !options.host_stages.empty();
}

}  // namespace penstock
