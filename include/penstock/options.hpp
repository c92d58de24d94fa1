// SPDX-License-Identifier: Apache-2.0
// Options of a pipeline, and the names of their values.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/tile.hpp"

namespace penstock {

/// Number of streams that a lane spreads a tile's steps over.
enum class LaneShape : std::uint8_t {
  split,   ///< One stream each for upload, stage and download, ordered by events: one lane keeps the whole device busy.
  single,  ///< All steps in the compute stream: fewer calls, but it takes several lanes to fill the gaps.
};

inline constexpr std::array all_lane_shapes{LaneShape::split, LaneShape::single};

/// Name of the shape in options: "split" or "single".
std::string_view to_string(LaneShape shape) noexcept;

/// The stream that a lane computes on.
enum class StreamMode : std::uint8_t {
  thread_default,  ///< The default stream of the lane's thread; a stage that names no stream uses it.
  own,             ///< A non-blocking stream of the lane's own.
};

inline constexpr std::array all_stream_modes{StreamMode::thread_default, StreamMode::own};

/// Name of the mode in options: "default" or "own".
std::string_view to_string(StreamMode mode) noexcept;

/// The mechanisms by which a lane learns of its device's progress.
enum class SignalKind : std::uint8_t {
  callback,            ///< cudaStreamAddCallback in a separate stream, one for several tiles.
  callback_in_stream,  ///< cudaStreamAddCallback in the working stream, one for each batch; textbooks do this for each
                       /// tile.
  host_func,           ///< cudaLaunchHostFunc in the stream of `callback`; it reports no errors.
  event_poll,          ///< The lane queries the tiles' events.
  event_block,         ///< A helper thread of the lane sleeps in cudaEventSynchronize.
  flag,                ///< The stream writes a number to memory, which the lane reads.
};

inline constexpr std::array all_signal_kinds{SignalKind::callback,    SignalKind::callback_in_stream,
                                             SignalKind::host_func,   SignalKind::event_poll,
                                             SignalKind::event_block, SignalKind::flag};

/// Name of the signal in options: "callback", "callback_in_stream" and so on.
std::string_view to_string(SignalKind kind) noexcept;

/// The way of a tile's bytes to its stage and back.
enum class Transport : std::uint8_t {
  /// Chosen by device and load. On the CPU device all tiles are mapped if the stage allows it and the pool is pinned,
  /// since a copy is one more pass over the tile by the same processors. On a GPU, if the stage allows it, a tile that
  /// finds no other tile of its lane on the device is mapped up to 32 MiB up and down, and further tiles as long as all
  /// together have at most 256 KiB (docs/decisions/latency.md). All others are copied.
  automatic,
  copies,  ///< The device's copy engines copy to a slot in its memory and back.
  mapped,  ///< No copy: the stage works on the tile's own pinned memory, which the device reaches over the link.
};

inline constexpr std::array all_transports{Transport::automatic, Transport::copies, Transport::mapped};

/// Name of the transport in options: "automatic", "copies", "mapped".
std::string_view to_string(Transport transport) noexcept;

/// Use of CUDA graphs: the work that a stage enqueues for a tile is captured once for each slot and launched as a graph
/// from then on. Only for stages that promise Promises::capturable.
enum class Graphs : std::uint8_t {
  automatic,  ///< Graphs are used if the lane measures that they take less time.
  never,
  always,
};

inline constexpr std::array all_graphs{Graphs::automatic, Graphs::never, Graphs::always};

/// Name of the choice in options: "automatic", "never", "always".
std::string_view to_string(Graphs graphs) noexcept;

/// The CPUs of a pipeline's own threads, and the place of its tiles. Threads of the application stay where they are:
/// those that feed it, and the one that calls `Pipeline::run`, which may call the sink as well.
enum class Bind : std::uint8_t {
  none,  ///< Threads run and tiles lie where the system puts them.
  node,  ///< Threads run on the CPUs of the NUMA node of their device or their tiles, and tiles lie there.
  cpu,   ///< The same, but each thread runs on one of these CPUs; threads share CPUs only if there are too few.
};

inline constexpr std::array all_binds{Bind::none, Bind::node, Bind::cpu};

/// Name of the place in options: "none", "node", "cpu".
std::string_view to_string(Bind bind) noexcept;

/// The aim of a pipeline: it determines the options that are left to the pipeline.
enum class Aim : std::uint8_t {
  throughput,  ///< Many tiles in a row; threads sleep when there is nothing to do.
  /// Few tiles, each wanted as soon as possible, with one lane for each device. The lane never sleeps, nor does one of
  /// the threads that wait for a tile, nor the consumer that waits for results. Each of them takes a core as long as
  /// the run lasts, and small tiles have less throughput. Slots and tiles are few, so that a single tile finds them in
  /// the caches (docs/decisions/latency.md).
  latency,
};

inline constexpr std::array all_aims{Aim::throughput, Aim::latency};

/// Name of the aim in options: "throughput", "latency".
std::string_view to_string(Aim aim) noexcept;

/// Work on a filled tile before it goes to a lane: decoding, parsing.
struct HostStage {
  std::string name = {};
  /// The function; it may change the input part and `filled`. An exception fails the tile with this stage's name ("host
  /// stage 1" and so on, if it has none), as does a `filled` beyond the input part.
  ///
  /// Threads: the consumers, up to `at_once` at a time.
  std::function<void(Tile&)> body = {};
  /// Maximum number of tiles that it works on at once; 0: one for each consumer.
  std::size_t at_once = 0;
};

/// Rarely used options: the division of a pipeline's work, and the way that lanes drive their devices. 0: a value that
/// suits this machine.
struct Tuning {
  /// No limit, for `spin` and `borrow_spin`; a longer time means the same.
  static constexpr std::chrono::microseconds for_ever = std::chrono::hours(1);
  static constexpr unsigned most_spare = 10'000;
  /// Default of `patience`. Only a kernel that never ends takes so long.
  static constexpr std::chrono::seconds usual_patience{60};

  /// Number of tiles in the pool: the limit of work in progress, and of pinned memory. 0: enough for all lanes and
  /// producers to be busy, in whole batches; if the tiles of 160 MiB suffice, at most a batch more than those
  /// (docs/decisions/pool.md). With several GPUs, if neither batch nor slots are set, it is the sum of these
  /// (docs/decisions/several-devices.md): at most 32 MiB, or two tiles for each lane if these are more; 2 MiB for each
  /// producer beyond the first, at most a batch and at least a tile, 64 MiB in all; and a tile for each consumer beyond
  /// the first. With Aim::latency at most one for each slot, producer and consumer (docs/decisions/latency.md).
  std::size_t tiles = 0;
  /// Maximum pinned memory of all tiles together, in bytes: it counts whole huge pages for each part of the pool, or
  /// whole pages of PipelineOptions::own_memory. 0: no limit. If `tiles` is left to the pipeline, it has its usual
  /// number, or as many as fit; Report::pool_bytes tells their size. Refused if there is no room for a tile for each
  /// lane, or for the number in `tiles`.
  std::size_t memory = 0;
  /// Maximum number of tiles that a lane puts on its device at once. 0: on a GPU 32 MiB of tiles, or 8 MiB of tiles
  /// below 1 MiB, but at most 128 tiles, at most a quarter of the slots if these are set, and with Aim::latency at most
  /// four tiles if no slots are set (docs/decisions/latency.md); with several GPUs and no slots set, at most 8 MiB
  /// divided by their number, or two tiles if each GPU can have two such batches (docs/decisions/several-devices.md);
  /// on the CPU device one (docs/decisions/batches.md).
  unsigned batch = 0;
  /// Maximum number of tiles in flight per lane. 0: four batches, since more gained nothing
  /// (bench/engine/flow/one_shot_bench); on a GPU at least 32 for tiles below 1 MiB (bench/engine/lane/signal_bench),
  /// with Aim::latency 16.
  unsigned slots = 0;
  /// Time for which a lane that has nothing to do polls its device before it sleeps. Polling brings results sooner, but
  /// takes a core while tiles are in flight. While more than half of its slots are full, with work enough, the lane
  /// sleeps instead, mostly for at most 1 ms at a time. Lanes never poll if that would leave fewer than two CPUs to
  /// others, of the machine or of a node that lanes are bound to. `for_ever`: the lane never sleeps, whatever its
  /// device has to do; this is the default with Aim::latency. Other defaults: 200 us on a GPU, which covers the passage
  /// of a 4 MiB tile (bench/engine/flow/one_shot_bench); 0 on the CPU device, which needs the cores itself, and with
  /// the signal event_block.
  std::optional<std::chrono::microseconds> spin = {};
  /// Time for which one of the threads that wait for a tile, a producer or a thread that feeds, polls before it sleeps.
  /// The sink then need not wake a thread, which takes it 4 to 18 us (bench/engine/core/pool_bench). 0: none polls.
  /// Default, unless the lanes' spin leaves too few CPUs, of the machine or of a node: for ever with Aim::latency; else
  /// 20 us on a GPU, 5 us for tiles from 1 MiB on (docs/decisions/batches.md), and 0 on the CPU device. The consumer
  /// that has nothing to do polls for a result for the same time.
  std::optional<std::chrono::microseconds> borrow_spin = {};
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;  ///< In most cases as fast as single or faster (docs/decisions/lanes.md).
  /// Copies of tiles or the tiles themselves as memory of stages; only stages that promise to read once get the latter.
  Transport transport = Transport::automatic;
  /// Use of CUDA graphs for stages that promise Promises::capturable; LaneSummary::graphs counts the tiles.
  Graphs graphs = Graphs::automatic;
  SignalKind signal = SignalKind::callback;  ///< The default is as fast as any signal that may sleep
                                             /// (bench/engine/lane/signal_bench).
  /// Priority of the streams that lanes make; lower runs first. DeviceInfo has the device's range.
  int priority = 0;
  /// Multiprocessors of each GPU that the stages' kernels leave free, for kernels of other streams, such as those of an
  /// AllReduce. StageContext::multiprocessors tells stages the number that is theirs; they launch no more blocks than
  /// these hold. Nothing else enforces it.
  unsigned spare = 0;
  /// Time that a lane waits for a device that finishes none of its tiles, before it abandons the device and fails them
  /// (docs/faults.md). It is also the time that feeding threads wait for each other's tiles before Feed::borrow reports
  /// it, and the time that threads wait while the sink keeps the loans of all tiles before the message hook is called.
  std::chrono::nanoseconds patience = usual_patience;
  /// The lane itself calls the sink, as soon as it knows that the tile is done: a microsecond sooner
  /// (bench/engine/flow/handoff_bench). The sink should be short and never wait, since its lane does nothing else
  /// meanwhile. Several lanes call it at once; if a tile fails before it reaches a lane, a producer or a consumer calls
  /// it. Not together with PipelineOptions::ordered.
  bool sink_on_lanes = false;
  /// Option for CPU devices and `Pipeline::run`: each lane fills a tile, runs the kernels that its stage launches, and
  /// completes it before it takes the next. A tile thus stays in the caches of one CPU, and no thread waits for another
  /// (docs/decisions/threads.md). With `sink_on_lanes` the same thread calls the sink, too. It suits sources and stages
  /// that take little time for a tile. A kernel that never ends keeps its lane for ever; `patience` has no effect.
  /// Lanes compute in streams of their own; by default there are as many lanes as CPUs. Tiles that are fed pass through
  /// the same lanes. Refused for GPUs and models of them, with host stages, and with `producers`, `slots` or `batch`
  /// above one, since it has none.
  bool run_to_completion = false;
  Bind bind = Bind::node;  ///< Where threads and tiles are kept (docs/decisions/threads.md).
};

class Ranges;
class RunHook;
class StepLog;
struct PipelineOptions;

/// Makes a hook for one pipeline (run_hook.hpp); null for none. It may add to the pipeline's options, a recorder for
/// instance.
using RunHookMaker = std::function<std::unique_ptr<RunHook>(PipelineOptions& options)>;

/// Observers of a pipeline while it works.
struct Watching {
  /// Is told when each tile that it wants was where, from borrow to sink: a Recorder (observe.hpp). Null for none; it
  /// outlives the pipeline.
  StepLog* recorder = nullptr;
  /// Each makes something that looks at the pipeline's runs: `{verdicts()}`, `{attribution()}` of observe.hpp, or your
  /// own. They are called in this order when the pipeline is made.
  std::vector<RunHookMaker> hooks = {};
  /// Lanes wait for their device after each step: if a device is lost, the report names the step and the tile, or
  /// batch, that caused it. This takes most of the throughput.
  bool step_by_step = false;
  /// Finds stages that write outside of their tile, even by one element, on CPU devices: every tile is copied to a
  /// place with painted bytes around it, and fails with stage "stage" if those were changed. It costs two copies and a
  /// comparison for each tile. Refused for a GPU; compute-sanitizer does that there.
  bool red_zones = false;
  /// Is notified of the steps of threads while they run: borrow, fill, host, enqueue, sink. Null for none; it must
  /// outlive the pipeline. For a profiler derive a class from Ranges (steps.hpp); src/observe/nvtx in the repository
  /// has one for NVTX.
  Ranges* ranges = nullptr;
};

/// Options of a pipeline. 0: a value that suits this machine.
struct PipelineOptions {
  /// Maximum number of producers, lanes or consumers of one pipeline.
  static constexpr unsigned most_threads = 1024;

  TileShape tile = {};  ///< Must be set, with `tile_of` for instance: a tile without bytes is refused.
  /// Determines lanes, batch, slots, tiles, spin and borrow_spin where they are left to the pipeline. Single tiles of a
  /// stage that reads once are not copied with either aim (`Tuning::transport`). `Tuning::sink_on_lanes` delivers
  /// results still sooner.
  Aim aim = Aim::throughput;
  /// Threads that fill, in `run`; those that are not needed rest (docs/decisions/threads.md). 0: the CPUs that lanes
  /// and consumers leave free.
  unsigned producers = 0;
  /// Threads that drive the devices. 0: for the CPU device one for each four of its CPUs, at least one and at most four
  /// (docs/decisions/threads.md); for one GPU one for tiles from 1 MiB on, where more lanes only hindered each other
  /// (bench/engine/flow/one_shot_bench), and two for smaller ones; one for each of several GPUs
  /// (docs/decisions/several-devices.md), and for each device with Aim::latency. Never fewer than devices.
  unsigned lanes = 0;
  /// Threads in host stages and sink. 0: one, or half as many as CPUs if they may work at once.
  unsigned consumers = 0;
  /// The sink gets tiles in the source's order, failed and cancelled ones in their places. With `parallel_sink` the
  /// consumers take them in that order, and several calls run at once. Stages get tiles in the order in which lanes
  /// take them, even with one lane: a stage with state from tile to tile needs `in_order` or `in_order_by`. Host stages
  /// are not ordered either.
  bool ordered = false;
  bool parallel_sink = false;  ///< Several consumers call the sink at once.
  std::vector<HostStage> host_stages = {};
  /// Memory of the application's own, from which tiles are cut instead of from slabs: shared memory, huge pages.
  /// memory_needed (pipeline.hpp) has the rules. Empty: the pipeline makes slabs. No command and no profile contains
  /// it, since it is an address.
  std::vector<std::span<std::byte>> own_memory = {};
  Tuning tuning = {};
  Watching watching = {};
};

/// True if tiles go through the oneTBB graph; else lanes call the sink, and there is no host stage.
inline bool enters_graph(PipelineOptions const& options) {
  return !options.tuning.sink_on_lanes || !options.host_stages.empty();
}

}  // namespace penstock
