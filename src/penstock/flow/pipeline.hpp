// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/core/completion.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/device/flavour_check.hpp"
#include "penstock/flow/pipeline_options.hpp"
#include "penstock/flow/report.hpp"
#include "penstock/flow/source.hpp"
#include "penstock/lane/stage.hpp"

namespace penstock {

/// Gets every tile's one completion. It may keep the loan by moving it out; otherwise the tile goes home when it
/// returns.
///
/// Threads: the consumers, one at a time unless the pipeline's options say `parallel_sink`; or, with `sink_on_lanes`,
/// the lanes, all at once, and each thread that fails or cancels a tile before them.
///          A thread that waits for tasks of oneTBB meanwhile, by `parallel_for` say, is given no other completion.
/// Throws:  anything; the report counts it as a failure of the sink, the tile goes home, the run goes on.
using Sink = std::function<void(Completion&)>;

/// The way in for applications that have threads of their own. Cheap to copy; usable while its pipeline is started.
///
/// Threads: any.
class Feed {
 public:
  /// Blocks: until a tile is home.
  /// Throws: Error, unless the pipeline was started; once it was stopped or drained, or its devices are lost; instead
  ///         of waiting in its own sink, a host stage or a call of its stage; and when threads wait for each other:
  ///         each tile has been lent, by a Feed, to a thread that waits here, and none was submitted or given back for
  ///         `PipelineOptions::patience`. The thread that came last is told. Where threads submit what others have
  ///         borrowed that is never an error, as nothing shows which thread has a loan.
  Loan borrow();
  /// The same; empty once `stop` is requested, or when `borrow()` would throw.
  ///
  /// Blocks: until a tile is home or `stop` is requested.
  /// Throws: Error, instead of waiting in the pipeline's own sink, a host stage or a call of its stage; and when
  ///         threads wait for each other, as above.
  std::optional<Loan> borrow(std::stop_token const& stop);
  /// A tile, if one is home.
  std::optional<Loan> try_borrow();
  /// Hands in a filled tile (`filled` says how much of it). It gets its one completion, also if the pipeline was
  /// stopped: then it is cancelled. Order, where asked for, is the order of these calls.
  ///
  /// Throws: Error, if the pipeline was not started or was drained, if the loan is empty, of another pipeline, or says
  /// that more is filled than there is room for; the tile then goes home.
  void submit(Loan loan);
  /// The same; false if the pipeline was not started or was drained, or pulls a source: the loan is then still the
  /// caller's.
  ///
  /// Throws: Error, as submit, for what is wrong with the loan; it is then still the caller's.
  bool try_submit(Loan& loan);

 private:
  friend class Pipeline;
  explicit Feed(class Pipeline& pipeline) noexcept : pipeline_(&pipeline) {}
  std::optional<Loan> wait_for_tile(class Run& run, std::stop_token const& stop);
  Pipeline* pipeline_;
};

/// Pinned tiles, lanes on devices, and the oneTBB graph between a source and a sink.
///
/// Made once, run any number of times, one run at a time. Either `run`, which starts its own producers, or `start`,
/// `feed`, `drain` for an application that has threads of its own.
///
/// Threads: one, but for `feed` and `stop`, which any may call.
class Pipeline {
 public:
  /// Places and pins the tiles, page by page. One device or several, as `Device&`, `Devices` or `DeviceGroup`; they
  /// must outlive the pipeline. With several, lanes are dealt out to them in turn, and each NUMA node that has some of
  /// them has a part of the tiles, from which producers and feeding threads on that node borrow first.
  ///
  /// Blocks: until every page was touched and is pinned, some 0.3 s a GiB; once `stop` is requested, no more are
  ///         touched.
  /// Throws: Error: bad options, too little pinned memory; of kind system, if `stop` was requested before all were
  ///         touched.
  Pipeline(DeviceGroup const& devices, PipelineOptions options, std::stop_token const& stop = {});
  Pipeline(Devices&& devices, PipelineOptions options, std::stop_token const& stop = {}) = delete;
  Pipeline(Pipeline const&) = delete;
  Pipeline& operator=(Pipeline const&) = delete;
  /// Stops and drains what is still going, also while another thread is in `run` or `drain`: that returns its report
  /// once the pipeline is gone. No Feed may be in use any more. On a thread that is in its own sink, stage or source,
  /// or in a call of its own such as `Stages::merge` or `drain`'s `hand_in_rest`, say in `std::exit`, it cannot wait:
  /// it ends its lanes and leaves the rest in memory. If the thread is a lane, that one does not end: what it has on
  /// its device stays there, and other lanes of that device have nothing there any more, and free nothing. If the run
  /// is still being made, no lane ends. Producers may still be in the source.
  ///
  /// Blocks: until the last completion; on such a thread, until the other lanes have completed what they have.
  ~Pipeline();

  /// Pulls all of the source through, and reports. A request of `stop` ends it early: what is on a device still
  /// completes, what is not is cancelled.
  ///
  /// Blocks: until the last completion.
  /// Throws: Error, if it cannot start (too little device memory, no stage or sink, a thread refused), and what
  /// `stages.make` throws; it is then fit for another run. What happens later is in the report.
  Report run(Source& source, Stages const& stages, Sink sink, std::stop_token stop = {});
  /// The same for a source that is made for this run alone, such as `generate(count, fill)` or `serial(read)`.
  Report run(Source&& source, Stages const& stages, Sink sink, std::stop_token stop = {}) {
    return run(source, stages, std::move(sink), std::move(stop));
  }
  /// A bare function does not say how it is to be called. Write `serial(function)` for one that a producer at a time
  /// calls with a Tile&, `generate(count, function)` for one that all producers call at once.
  template <class Function>
  requires std::is_invocable_v<Function&, Tile&> Report run(Function, Stages const&, Sink, std::stop_token = {})
  = delete;

  /// Makes lanes and stages, and lets `feed` in.
  ///
  /// Throws: as run.
  void start(Stages stages, Sink sink);
  Feed feed() noexcept { return Feed(*this); }
  /// Waits for all that was submitted, finishes and merges the stages, and reports.
  ///
  /// Blocks: until the last completion.
  /// Throws: Error, if it was not started, is drained by another thread, or this thread is in its sink, a host stage or
  /// its stage.
  Report drain();
  /// The same for a caller that holds tiles back: it calls `hand_in_rest` once it is certain that this call drains;
  /// what `hand_in_rest` submits still belongs to the run.
  ///
  /// Throws: as drain; and what `hand_in_rest` throws: the run is then stopped, and there is no report.
  Report drain(std::function<void()> const& hand_in_rest);
  /// Cancels what no device has started and lets nothing more in. `drain` still reports.
  void stop() noexcept;

  /// True from `start` or `run` to the report.
  ///
  /// Threads: any.
  bool running() const noexcept;
  /// What the options came to on this machine.
  PipelineOptions const& options() const noexcept;
  Pool& pool() noexcept;

 private:
  friend class Feed;
  struct Parts;
  // Owned. Left as it is by a pipeline that its own sink destroys: threads that still feed may read it.
  Parts* const parts_;
};

}  // namespace penstock
