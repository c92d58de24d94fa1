// SPDX-License-Identifier: Apache-2.0
// The pipeline: sources made of functions, sink, feed and run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/elements.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A source made of one function that fills a tile and returns the number of bytes, or nothing at the end of the input;
/// `serial` makes it.
///
/// Threads: the function is called by one producer at a time.
/// Throws:  what the function throws ends the input, as Source::next.
template <class Function>
class SerialSource final : public Source {
 public:
  /// Throws: Error of kind bad_argument, if the function is empty.
  explicit SerialSource(Function function) : function_(std::move(function)) {
    if constexpr (std::is_constructible_v<Function, std::nullptr_t>) {
      if (function_ == nullptr) {
        throw Error(ErrorKind::bad_argument, "There is no source: the function is empty.");
      }
    }
  }
  bool next(Tile& tile) override {
    std::optional<std::size_t> const filled = function_(tile);
    tile.filled = filled.value_or(0);
    return filled.has_value();
  }
  std::size_t fill(Tile& tile) override { return tile.filled; }

 private:
  Function function_;
};

/// Makes a source from a function that discovers the next data, or the end of the input, only when it is called:
/// `pipeline.run(serial(read), stage, sink)`. `read(Tile&)` fills the tile and returns the number of bytes, or nothing
/// at the end. One producer at a time calls it, so one thread does the work of filling. If a function can fill any tile
/// by its place, `generate` lets all producers fill at once.
template <class Function>
requires std::is_invocable_r_v<std::optional<std::size_t>, Function&, Tile&> SerialSource<Function> serial(
    Function function) {
  return SerialSource<Function>(std::move(function));
}

/// Place of a tile in the input of a generated source. It converts to its index.
struct TilePlace {
  std::uint64_t index = 0;   ///< 0, 1, 2 ...
  std::uint64_t offset = 0;  ///< Number of elements before the tile, if all tiles before it are full.
  constexpr operator std::uint64_t() const noexcept { return index; }  // NOLINT(google-explicit-constructor)
};

/// A source of `count` tiles made of one function, which all producers call at once, each for another tile; `generate`
/// makes it.
///
/// Units:   elements.
/// Threads: the function is called by all producers at once.
/// Throws:  what the function throws fails the tile with stage "source", as Source::fill.
template <class Fill, class First, class... More>
class GeneratedSource final : public Source {
 public:
  GeneratedSource(std::uint64_t count, Fill fill) : count_(count), fill_(std::move(fill)) {}
  bool next(Tile& tile) override { return tile.sequence < count_; }
  std::size_t fill(Tile& tile) override { return fill(tile, std::index_sequence_for<More...>()); }
  TileTypes types() const noexcept override {
    return {.inputs = 1 + sizeof...(More), .input = {part_type<First>(), part_type<More>()...}};
  }

 private:
  template <std::size_t... Which>
  std::size_t fill(Tile& tile, std::index_sequence<Which...>) {
    auto const first = elements<First>(tile.input());
    TilePlace const place{tile.sequence, tile.sequence * first.size()};
    auto const filled = static_cast<std::size_t>(fill_(place, first, elements<More>(tile.input(Which + 1))...));
    ((tile.more_filled[Which] = filled * sizeof(More)), ...);
    return filled * sizeof(First);
  }

  std::uint64_t const count_;
  Fill fill_;
};

/// The element types that a function fills: those of its parameters behind the first.
template <class Function>
struct FilledElements {
  static_assert(sizeof(Function) == 0,
                "a function for generate is fill(TilePlace place, std::span<float> input), with a span for each input");
};
template <class Result, class Place, class First, class... More>
struct FilledElements<std::function<Result(Place, std::span<First>, std::span<More>...)>> {
  static_assert(std::is_convertible_v<TilePlace, Place>,
                "the first parameter of a function for generate is a TilePlace, the place of the tile");
  template <class Fill>
  using Source = GeneratedSource<Fill, First, More...>;
};

/// Makes a source of `count` tiles, filled by all producers at once: `pipeline.run(generate(64, fill), stage, sink)`,
/// where `fill(TilePlace, std::span<float> input)` writes elements to the tile's whole input and returns their number.
/// With several inputs it gets a span for each, and returns the number of elements of each, the same for all.
///
/// Units:   tiles; elements.
/// Threads: all producers call the function at once. Use `serial` for a function that does not allow that.
/// Throws:  what the function throws fails the tile with stage "source", as Source::fill.
template <class Fill>
auto generate(std::uint64_t count, Fill fill) {
  constexpr bool types_known = requires {
    std::function(fill);
  };
  static_assert(types_known, "the parameters of this function have no types yet: name them, or write generate<float>");
  if constexpr (types_known) {
    using Filled = FilledElements<decltype(std::function(fill))>;
    return typename Filled::template Source<Fill>(count, std::move(fill));
  }
}
/// The same for a function with deduced parameter types: `generate<float>(64, fill)`.
template <class First, class... More, class Fill>
GeneratedSource<Fill, First, More...> generate(std::uint64_t count, Fill fill) {
  return GeneratedSource<Fill, First, More...>(count, std::move(fill));
}

/// Gets the one completion of every tile. It may keep the loan by moving it out; otherwise the tile returns to the pool
/// when the sink returns.
///
/// Threads: the consumers, one at a time unless the pipeline's options say `parallel_sink`; or, with `sink_on_lanes`,
/// the lanes, all at once, and each thread that fails or cancels a tile before them.
///          A thread that waits for tasks of oneTBB meanwhile, by `parallel_for` say, is given no other completion.
/// Throws:  anything; the report counts it as a failure of the sink, the tile returns to the pool, the run continues.
using Sink = std::function<void(Completion&)>;

/// The entry for applications that have threads of their own. Cheap to copy; usable while its pipeline is started.
///
/// Threads: any.
class Feed {
 public:
  /// Blocks: until a tile is free.
  /// Throws: Error of kind ended, if the pipeline was stopped or drained, or its devices are lost. Error of kind
  ///         bad_argument, if it was not started, or runs a source; instead of waiting in its own sink, a host stage or
  ///         a call of its stage; and if threads wait for each other: each tile has been lent, by a Feed, to a thread
  ///         that waits here, and none was submitted or given back for `Tuning::patience`. The last thread to wait then
  ///         gets the error. If threads submit tiles that others borrowed, it is never an error, since it is unknown
  ///         which thread has a loan.
  Loan borrow() const;
  /// The same; empty once `stop` is requested, or when `borrow()` would throw.
  ///
  /// Blocks: until a tile is free or `stop` is requested.
  /// Throws: Error, instead of waiting in the pipeline's own sink, a host stage or a call of its stage; and if threads
  ///         wait for each other, as above.
  std::optional<Loan> borrow(std::stop_token const& stop) const;
  /// A tile, if one is free.
  std::optional<Loan> try_borrow() const;
  /// Tells why `try_borrow` lent no tile: it returns if only none was free.
  ///
  /// Throws: Error, as `borrow`, if the pipeline lends no more tiles.
  void expect_open() const;
  /// Submits a filled tile (`filled` is the number of its bytes). It gets its one completion, also if the pipeline was
  /// stopped: then it is cancelled. The order, if requested, is the order of these calls.
  ///
  /// Throws: Error, if the pipeline was not started or was drained, or if the loan is empty, of another pipeline, or
  ///         has more filled bytes than room; the tile then returns to its pool.
  void submit(Loan loan) const;
  /// The same; false if the pipeline was not started or was drained, or runs a source: the caller then keeps the loan.
  ///
  /// Throws: Error, as submit, for an invalid loan; the caller then keeps it.
  bool try_submit(Loan& loan) const;

 private:
  friend class Pipeline;
  explicit Feed(class Pipeline& pipeline) noexcept : pipeline_(&pipeline) {}
  std::optional<Loan> wait_for_tile(class Run& run, std::stop_token const& stop) const;
  Pipeline* pipeline_;
};

/// A node of the oneTBB graph that each run of a pipeline makes.
struct GraphNode {
  enum class Kind : std::uint8_t { host_stage, lanes, order, sink };
  Kind kind = Kind::lanes;
  std::string name = {};             ///< That of a host stage, "lanes", "order", "sink" or "order and sink".
  std::size_t at_once = 1;           ///< Tiles that it works on at once, or lanes; 0: one for each consumer.
  std::vector<std::size_t> to = {};  ///< Nodes that its edges lead to, by index.
};
/// A line for each node, with its edges: "decode, up to 4 at once -> lanes".
std::string describe(std::span<GraphNode const> graph);
/// The same in the language of Graphviz, for `dot`.
std::string as_dot(std::span<GraphNode const> graph);

/// Pinned tiles, lanes on devices, and the oneTBB graph between a source and a sink.
///
/// A pipeline is made once and runs any number of times, one run at a time: either by `run`, which starts its own
/// producers, or by `start`, `feed`, `drain` for an application that has threads of its own.
///
/// Threads: one, except for `feed`, `stop`, `running` and `snapshot`, which any may call.
class Pipeline {
 public:
  /// Places and pins the tiles, page by page. It takes one device or several, as `Device&`, `Devices` or `DeviceGroup`;
  /// they must outlive the pipeline. Lanes are distributed over several devices alternately. Each NUMA node that has
  /// some of the devices has a part of the tiles, from which producers and feeding threads on that node borrow first.
  ///
  /// Blocks: until every page was touched and is pinned, some 0.3 s a GiB; once `stop` is requested, no more are
  ///         touched.
  /// Throws: Error: bad options, too little pinned memory; of kind system, if `stop` was requested before all were
  ///         touched.
  Pipeline(DeviceGroup const& devices, PipelineOptions options, std::stop_token const& stop = {});
  Pipeline(Devices&& devices, PipelineOptions options, std::stop_token const& stop = {}) = delete;
  Pipeline(Pipeline const&) = delete;
  Pipeline& operator=(Pipeline const&) = delete;
  /// Stops and drains the current run, also while another thread is in `run` or `drain`: that call returns its report
  /// once the pipeline is gone. No Feed may be in use any more. It cannot wait on a thread that is in its own sink,
  /// stage or source, or in a call of its own such as `Stages::merge` or `drain`'s `hand_in_rest`, for instance in
  /// `std::exit`: it then ends its lanes and leaves the rest in memory. If the thread is a lane, that lane does not
  /// end: its work stays on its device, and other lanes of that device have nothing there any more, and free nothing.
  /// If the run is still being made, no lane ends. Producers may still be in the source.
  ///
  /// Blocks: until the last completion; on such a thread, until the other lanes have completed their tiles.
  ~Pipeline();

  /// Processes the whole source, and reports. A request of `stop` ends it early: work on a device still completes, the
  /// rest is cancelled.
  ///
  /// Blocks: until the last completion.
  /// Throws: Error, if it cannot start (too little device memory, no stage or sink, a thread refused), and exceptions
  ///         of `stages.make`; another run is then possible. Later failures are in the report.
  [[nodiscard]] Report run(Source& source, Stages const& stages, Sink sink, std::stop_token stop = {});
  /// The same for a temporary source, such as `generate(count, fill)` or `serial(read)`.
  [[nodiscard]] Report run(Source&& source, Stages const& stages, Sink sink, std::stop_token stop = {}) {
    return run(source, stages, std::move(sink), std::move(stop));
  }
  /// Rejects a bare function, which does not tell how it must be called. Write `serial(function)` for a function that
  /// one producer at a time calls with a Tile&, `generate(count, function)` for one that all producers call at once.
  template <class Function>
  requires std::is_invocable_v<Function&, Tile&> Report run(Function, Stages const&, Sink, std::stop_token = {})
  = delete;

  /// Makes lanes and stages, and opens `feed`.
  ///
  /// Throws: as run.
  void start(Stages stages, Sink sink);
  Feed feed() noexcept { return Feed(*this); }
  /// Waits for all submitted tiles, finishes and merges the stages, and reports.
  ///
  /// Blocks: until the last completion.
  /// Throws: Error, if it was not started, is drained by another thread, or this thread is in its sink, a host stage or
  /// its stage.
  [[nodiscard]] Report drain();
  /// The same for a caller that holds tiles back: `hand_in_rest` is called once it is certain that this call drains;
  /// tiles that it submits still belong to the run.
  ///
  /// Throws: as drain; and exceptions of `hand_in_rest`: the run is then stopped, and there is no report.
  [[nodiscard]] Report drain(std::function<void()> const& hand_in_rest);
  /// Cancels all work that no device has started, and refuses new tiles; also ends a search for the tile that lost a
  /// device (attribution() of observe.hpp). `drain` still reports.
  void stop() noexcept;

  /// True from `start` or `run` until the report.
  ///
  /// Threads: any.
  bool running() const noexcept;
  /// The state of the pipeline at this moment. It takes a lock that no tile takes, and some reads for each lane.
  /// `rates` compares two snapshots.
  ///
  /// Threads: any, also one in a sink or a stage.
  Snapshot snapshot() const;
  /// The options with all values that were determined for this machine.
  PipelineOptions const& options() const noexcept;
  /// Nodes and edges of the graph of each run, in the order in which a tile passes them. With `sink_on_lanes` the
  /// lanes and the sink are no nodes.
  std::vector<GraphNode> graph() const;
  Pool& pool() noexcept;

 private:
  friend class Feed;
  struct Parts;
  // Owned. It is not freed if the pipeline's own sink destroys the pipeline: threads that still feed may read it.
  Parts* const parts_;
};

/// Memory that a part of a pipeline's pool needs.
struct MemoryNeeded {
  std::size_t bytes = 0;  ///< Whole pages.
  std::size_t tiles = 0;
  std::optional<int> node = {};  ///< The NUMA node where it should be; empty: any.
};

/// Returns the memory that a pipeline with these devices and options needs in PipelineOptions::own_memory: one piece
/// for each part of its pool, in their order, or one piece as large as all of them. There is a part for each NUMA node
/// that has some of the devices, so usually one.
///
/// Rules for the application's own memory:
/// - Each piece begins at a page and can be written. It may be larger: the rest is neither used nor pinned. Private,
///   shared and huge pages are allowed, also those of a file in memory (memfd_create). A file of a disk is allowed for
///   CPU devices; GPUs refuse to pin it on some systems.
/// - The pipeline's constructor makes all pages present, keeps their content, and pins them for each device; the
///   destructor unpins them. None of them may be pinned already, by another pipeline or by the application.
/// - If `tiles` is left to the pipeline, it has its usual number, or as many as fit.
/// - The application determines the NUMA node of pages. For a page that no thread has touched, the policy of the thread
///   that makes the pipeline decides. Report::placement tells the result.
/// - The memory must outlive the pipeline, which never unmaps it. A device that was abandoned (Tuning::patience) may
///   still write to it, so it must then stay mapped, and unused, until that device is gone: a CPU device when it is
///   destroyed, a GPU only at the end of the process. The pages of a GPU stay pinned until then. Device::abandoned
///   tells, as does a remark of the report. The same holds if a pipeline leaves its tiles in memory, as ~Pipeline says.
/// - Another process that writes to a tile must know when the tile is the application's: from Feed::borrow to
///   Feed::submit, and in the sink until the loan dies.
///
/// Threads: any.
/// Throws:  Error, as Pipeline does for options that it cannot have.
std::vector<MemoryNeeded> memory_needed(DeviceGroup const& devices, PipelineOptions options);

}  // namespace penstock
