// SPDX-License-Identifier: Apache-2.0
// How a pipeline is built, and the words that some options take.
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

#include "penstock/recorder.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// How many streams a lane spreads a tile's steps over.
enum class LaneShape : std::uint8_t {
  split,   ///< One each for upload, stage and download, ordered by events: one lane keeps all of a device busy.
  single,  ///< All steps in the compute stream: fewer calls, and other lanes must fill the gaps.
};

inline constexpr std::array all_lane_shapes{LaneShape::split, LaneShape::single};

/// As users write it: "split" and so on.
std::string_view to_string(LaneShape shape) noexcept;

/// Which stream a lane computes on.
enum class StreamMode : std::uint8_t {
  thread_default,  ///< The default stream of the lane's thread: a stage that names no stream is on it.
  own,             ///< A non-blocking stream of the lane's own.
};

inline constexpr std::array all_stream_modes{StreamMode::thread_default, StreamMode::own};

/// "default", "own".
std::string_view to_string(StreamMode mode) noexcept;

/// The mechanisms by which a lane can hear that its device got somewhere.
enum class SignalKind : std::uint8_t {
  callback,            ///< cudaStreamAddCallback in a stream beside the work, one for several tiles.
  callback_in_stream,  ///< cudaStreamAddCallback in the working stream, one for each batch, as texts teach it for a
                       ///< tile.
  host_func,           ///< As callback, with cudaLaunchHostFunc, which knows no errors.
  event_poll,          ///< The lane asks the tiles' events.
  event_block,         ///< A thread beside the lane sleeps in cudaEventSynchronize.
  flag,                ///< The stream writes a number to memory, which the lane reads.
};

inline constexpr std::array all_signal_kinds{SignalKind::callback,    SignalKind::callback_in_stream,
                                             SignalKind::host_func,   SignalKind::event_poll,
                                             SignalKind::event_block, SignalKind::flag};

/// "callback", "callback_in_stream" and so on.
std::string_view to_string(SignalKind kind) noexcept;

/// How a tile's bytes come to its stage and back.
enum class Transport : std::uint8_t {
  /// On the CPU device all is mapped where the stage allows it and the pool is pinned: a copy there is one more pass
  /// over the tile by the same processors. On a GPU, where the stage allows it, a tile that finds nothing of its lane
  /// on the device is mapped up to 32 MiB up and down, and more tiles as long as all of them have no more than 256 KiB
  /// (docs/decisions/latency.md); all else is copied.
  automatic,
  copies,  ///< By the device's copy engines, to a slot in its memory and back.
  mapped,  ///< No copy: the stage works on the tile's own pinned memory, which the device reaches over the link.
};

inline constexpr std::array all_transports{Transport::automatic, Transport::copies, Transport::mapped};

/// "automatic", "copies", "mapped".
std::string_view to_string(Transport transport) noexcept;

/// Whether what a stage enqueues for a tile is captured once for each slot and launched as a graph from then on. Only
/// of a stage that promises it (Promises::capturable).
enum class Graphs : std::uint8_t {
  automatic,  ///< If the lane finds that it takes less time so.
  never,
  always,
};

inline constexpr std::array all_graphs{Graphs::automatic, Graphs::never, Graphs::always};

/// "automatic", "never", "always".
std::string_view to_string(Graphs graphs) noexcept;

/// Where a pipeline keeps its own threads, and its tiles. Threads of the application stay where they are: those that
/// feed it, and the one that calls `Pipeline::run`, which may call the sink as well.
enum class Bind : std::uint8_t {
  none,  ///< Threads run and tiles lie where the system puts them.
  node,  ///< Threads run on the CPUs of the NUMA node of their device or their tiles, and tiles lie there.
  cpu,   ///< The same, but each thread runs on one of these CPUs; threads share CPUs only if there are too few.
};

inline constexpr std::array all_binds{Bind::none, Bind::node, Bind::cpu};

/// "none", "node", "cpu".
std::string_view to_string(Bind bind) noexcept;

/// The aim of a pipeline: it decides what the options leave to the pipeline.
enum class Aim : std::uint8_t {
  throughput,  ///< Many tiles in a row, by threads that sleep where there is nothing to do.
  /// Few tiles, each wanted as soon as possible: one lane for each device. The lane never sleeps; one of the threads
  /// that wait for a tile never sleeps, nor does the consumer that waits for results. Each of them takes a core for as
  /// long as the run lasts, and small tiles have less throughput. Slots and tiles are few, so that a tile that comes
  /// alone finds them warm (docs/decisions/latency.md).
  latency,
};

inline constexpr std::array all_aims{Aim::throughput, Aim::latency};

/// "throughput", "latency".
std::string_view to_string(Aim aim) noexcept;

/// Work on a filled tile before it goes to a lane: decoding, parsing.
struct HostStage {
  std::string name = {};
  /// May change the input part and `filled`. What it throws fails the tile with this stage's name ("host stage 1" and
  /// so on, if it has none), as does a `filled` beyond the input part.
  ///
  /// Threads: the consumers, up to `at_once` at a time.
  std::function<void(Tile&)> body = {};
  /// How many tiles it may work on at once; 0 for as many as there are consumers.
  std::size_t at_once = 0;
};

/// What few set: how a pipeline divides its work, and how its lanes drive their devices. A 0 means: what suits this
/// machine.
struct Tuning {
  /// For `spin` and `borrow_spin`; a longer time means this one.
  static constexpr std::chrono::microseconds for_ever = std::chrono::hours(1);
  static constexpr unsigned most_spare = 10'000;
  /// Only a kernel that never ends takes so long.
  static constexpr std::chrono::seconds usual_patience{60};

  /// Tiles in the pool: the most work in progress, and all the pinned memory there is. 0: enough for all lanes and
  /// producers to be busy, in whole batches; if the tiles that 160 MiB hold are enough, up to a batch more than those
  /// (docs/decisions/pool.md). With several GPUs 32 MiB at most, or two tiles for each lane if these are more; 2 MiB
  /// for each producer beyond the first, a batch of them at most and a tile at least, of which 64 MiB in all; and a
  /// tile for each consumer beyond the first; if neither batch nor slots are asked for
  /// (docs/decisions/several-devices.md). With Aim::latency no more than one for each slot, producer and consumer
  /// (docs/decisions/latency.md).
  std::size_t tiles = 0;
  /// The most pinned memory that the tiles take together, in bytes: all that is pinned for them, which is whole huge
  /// pages for each part of the pool, or whole pages of PipelineOptions::own_memory. 0: what the tiles take. Where
  /// `tiles` is left to the pipeline, it has as many as else, or as many as fit; Report::pool_bytes says what they
  /// take. Refused, if there is no room for a tile for each lane, or for the `tiles` that are asked for.
  std::size_t memory = 0;
  /// The most tiles that a lane puts on its device at once. 0: on a GPU 32 MiB of tiles, or 8 MiB of tiles below 1 MiB,
  /// but no more than 128 tiles, no more than a quarter of the slots that are asked for, and with Aim::latency no more
  /// than four tiles if no slots are asked for (docs/decisions/latency.md); with several GPUs and no slots asked for,
  /// no more than 8 MiB divided by their number, or two tiles if each GPU can have two such batches
  /// (docs/decisions/several-devices.md); on the CPU device one (docs/decisions/batches.md).
  unsigned batch = 0;
  /// Tiles in flight per lane. 0: four batches, more gained nothing (bench/flow/one_shot_bench); on a GPU at least 32
  /// for tiles below 1 MiB (bench/lane/signal_bench), with Aim::latency 16.
  unsigned slots = 0;
  /// How long a lane that has nothing to do watches its device before it sleeps: results come sooner, but it takes a
  /// core while tiles are in flight. While more than half of its slots are full, with work enough, it sleeps instead,
  /// mostly for no more than 1 ms at a time. Lanes never watch if that would leave fewer than two CPUs to others, of
  /// all or of a node that lanes are bound to. `for_ever`: the lane never sleeps, whatever its device has to do; with
  /// Aim::latency that is what empty means. Else empty: 200 us on a GPU, which covers the passage of a 4 MiB tile
  /// (bench/flow/one_shot_bench); 0 on the CPU device, which needs the cores itself, and with the signal event_block.
  std::optional<std::chrono::microseconds> spin = {};
  /// How long one of the threads that wait for a tile, a producer or a thread that feeds, watches for it before it
  /// sleeps, so that the sink need not wake a thread, which takes it 4 to 18 us (bench/core/pool_bench). 0: none
  /// watches. Empty, unless the lanes' spin leaves too few CPUs, of all or of a node: for ever with Aim::latency; else
  /// 20 us on a GPU, 5 us for tiles from 1 MiB on (docs/decisions/batches.md), and 0 on the CPU device. The
  /// consumer that has nothing to do watches for a result for the same time.
  std::optional<std::chrono::microseconds> borrow_spin = {};
  StreamMode streams = StreamMode::thread_default;
  LaneShape shape = LaneShape::split;  ///< Mostly as fast as single or faster (docs/decisions/lanes.md).
  /// Whether stages work on copies of tiles or on the tiles themselves; the latter only those that promise to read
  /// once.
  Transport transport = Transport::automatic;
  /// Whether a stage that promises Promises::capturable is launched as a CUDA graph; LaneSummary::graphs counts the
  /// tiles.
  Graphs graphs = Graphs::automatic;
  SignalKind signal = SignalKind::callback;  ///< As fast as any that may sleep (bench/lane/signal_bench).
  /// Of the streams that lanes make; lower runs first, and the device's DeviceInfo says what it has.
  int priority = 0;
  /// Multiprocessors of each GPU that the kernels of stages leave free, for kernels of other streams, such as those of
  /// an AllReduce. Stages learn from StageContext::multiprocessors how many are theirs, and launch no more blocks than
  /// these hold; nothing else holds them to it.
  unsigned spare = 0;
  /// How long a lane bears with a device that finishes none of its tiles, before it abandons the device and fails them:
  /// docs/faults.md. And how long feeding threads wait for each other's tiles, before Feed::borrow says so; and how
  /// long threads wait while the sink keeps the loans of all tiles, before the message hook is told.
  std::chrono::nanoseconds patience = usual_patience;
  /// The lane calls the sink itself, the moment it knows that the tile is done: a microsecond sooner
  /// (bench/flow/handoff_bench). For a sink that is short and never waits, since its lane does nothing else meanwhile;
  /// several lanes call at once, and if a tile fails before it reaches a lane, a producer or a consumer calls. Not with
  /// PipelineOptions::ordered.
  bool sink_on_lanes = false;
  /// For CPU devices and `Pipeline::run`: each lane fills a tile, runs the kernels that its stage launches, and
  /// completes it before it takes the next, so a tile stays in the caches of one CPU and no thread waits for another
  /// (docs/decisions/threads.md). With `sink_on_lanes` the sink is called by the same thread, too. For a source and a
  /// stage that take little time for a tile. A kernel that never ends keeps its lane for ever, and `patience` does not
  /// help. Lanes compute in streams of their own, and without `lanes` there are as many as CPUs. Tiles that are fed go
  /// through the same lanes. Refused for GPUs and models of them, with host stages, and with `producers`, `slots` or
  /// `batch` beyond one, of which there are none.
  bool run_to_completion = false;
  Bind bind = Bind::node;  ///< Where threads and tiles are kept (docs/decisions/threads.md).
};

class RunHook;
struct PipelineOptions;

/// Makes a hook for one pipeline (run_hook.hpp); null for none. It may add to the pipeline's options: a recorder, say.
using RunHookMaker = std::function<std::unique_ptr<RunHook>(PipelineOptions& options)>;

/// What watches a pipeline while it works.
struct Watching {
  /// Is told when each tile that it wants was where, from borrow to sink; null for none. It outlives the pipeline.
  Recorder* recorder = nullptr;
  /// Each makes something that looks at the pipeline's runs: `{verdicts()}`, `{attribution()}` of observe.hpp, or your
  /// own. They are called in this order when the pipeline is made.
  std::vector<RunHookMaker> hooks = {};
  /// Lanes wait for their device after each step, so a device that is lost was lost by the step and the tile, or batch,
  /// that the report names. It takes most of the throughput.
  bool step_by_step = false;
  /// Finds stages that write outside of the tile that they were asked for, also by one element, on CPU devices: every
  /// tile is copied to a place with painted bytes around it, and fails with stage "stage" if they were written to. It
  /// takes two copies and a look for each tile. For a GPU, which it is refused for, compute-sanitizer does that.
  bool red_zones = false;
  /// Is told what the threads do, while they do it: borrow, fill, host, enqueue, sink. Null for none; it outlives the
  /// pipeline. For a profiler derive a class from Ranges; src/penstock/nvtx in the repository has one for NVTX.
  Ranges* ranges = nullptr;
};

/// How a pipeline is built. A 0 means: what suits this machine.
struct PipelineOptions {
  /// The most producers, lanes or consumers of one pipeline.
  static constexpr unsigned most_threads = 1024;

  TileShape tile = {};  ///< To be set, with `tile_of` say: a tile without bytes is refused.
  /// Decides about lanes, batch, slots, tiles, spin and borrow_spin that are left to the pipeline; lone tiles of a
  /// stage that reads once are not copied with either (`Tuning::transport`). With `Tuning::sink_on_lanes` a result is
  /// there sooner still.
  Aim aim = Aim::throughput;
  /// Threads that fill, in `run`; those that are not needed rest (docs/decisions/threads.md). 0: the CPUs that lanes
  /// and consumers leave free.
  unsigned producers = 0;
  /// Threads that drive the devices. 0: for the CPU device one for each four of its CPUs, at least one and at most four
  /// (docs/decisions/threads.md); for one GPU one for tiles from 1 MiB on, where more lanes only hindered each other
  /// (bench/flow/one_shot_bench), and two for smaller ones; one for each of several GPUs
  /// (docs/decisions/several-devices.md), and for each device with Aim::latency. Never fewer than devices.
  unsigned lanes = 0;
  /// Threads in host stages and sink. 0: one, or half as many as CPUs if they may work at once.
  unsigned consumers = 0;
  /// The sink sees tiles in the source's order, failed and cancelled ones in their places. With `parallel_sink` the
  /// consumers take them up in that order, and several calls run at once. Stages see tiles as lanes come by them, also
  /// with one lane: a stage that carries something from tile to tile needs `in_order` or `in_order_by`. Host stages are
  /// in no order either.
  bool ordered = false;
  bool parallel_sink = false;  ///< The sink is called by several consumers at once.
  std::vector<HostStage> host_stages = {};
  /// Memory of the application's own, which tiles are cut from instead of from slabs: shared memory, huge pages. Empty:
  /// the pipeline makes slabs. As own_memory.hpp says. No command and no profile has it: it is an address.
  std::vector<std::span<std::byte>> own_memory = {};
  Tuning tuning = {};
  Watching watching = {};
};

/// True if tiles go through the oneTBB graph; else lanes call the sink, and no host stage is before them.
inline bool enters_graph(PipelineOptions const& options) {
  return !options.tuning.sink_on_lanes || !options.host_stages.empty();
}

}  // namespace penstock
