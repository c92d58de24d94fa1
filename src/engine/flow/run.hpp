// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/core/rundown.hpp"
#include "engine/core/works_for.hpp"
#include "engine/flow/lanes_bring.hpp"
#include "engine/flow/run_outcomes.hpp"
#include "engine/flow/tile_route.hpp"
#include "engine/lane/lane_set.hpp"
#include "engine/machine/bound_thread.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/placed.hpp"
#include "penstock/clock.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "penstock/run_hook.hpp"

namespace penstock {

/// Ways in which a run gets its tiles.
enum class Input : std::uint8_t { pulled, pushed };

/// Returns what the options of a pipeline mean for its route, with `lanes` lanes, and consumers on these CPUs.
TileRoute::Options route_options(PipelineOptions const& options, StageOrder const& order, std::size_t lanes,
                                 std::vector<CpuSet> const& consumers);

/// One run of a pipeline, from its first tile to its report: its beginning, its end, and its outcomes.
/// TileRoute has what becomes of each tile.
///
/// Threads: `submit`, `stop` any; the rest is for the one that made it.
class Run {
 public:
  /// Opens `open_input`, which must outlive it as `hooks` must, and closes it at the end of the input.
  ///
  /// Throws: Error, if the lanes cannot start.
  Run(Input input, Rundown& open_input, Pool& pool, std::span<TileRecord> records, std::vector<LanePlace> const& lanes,
      PipelineOptions const& options, std::span<std::unique_ptr<RunHook> const> hooks,
      std::vector<CpuSet> const& consumers, Stages stages, Sink sink);
  Run(Run const&) = delete;
  Run& operator=(Run const&) = delete;
  /// Stops and winds up a run that no thread finished.
  ///
  /// Blocks: until the last completion.
  ~Run();

  Input input() const noexcept { return input_; }
  /// Adds where its tiles are: a tile is counted on its way in before it is on its way out, and these are read in the
  /// opposite order.
  ///
  /// Threads: any.
  void write_to(Snapshot& snapshot) const;

  /// Tiles that were sent and are not yet through with the sink, at this moment.
  ///
  /// Threads: any.
  std::uint64_t under_way() const noexcept { return route_.graph().owed(); }
  /// Lanes of this run.
  std::size_t lanes() const noexcept { return lanes_->size(); }
  /// The place where its lanes get their tiles, if they bring them themselves; else null.
  LanesBring* lanes_bring() const noexcept { return lanes_bring_.get(); }
  /// Threads: any.
  void wake_lanes() noexcept { lanes_->wake(); }
  /// The route of its tiles, from `send` on.
  ///
  /// Threads: any.
  TileRoute& route() noexcept { return route_; }
  /// Gives a tile the next sequence and sends it.
  ///
  /// Shape: the caller is in `open_input`.
  void submit(Loan loan);
  /// From here on nothing is submitted.
  ///
  /// Blocks: until no thread is inside of `open_input`.
  void end_of_input();
  /// Stops it, unless its input has ended.
  void give_up();
  /// True on a thread that is in its sink, a host stage, its source, a call of its stage, or a kernel of its device.
  bool working_here() const noexcept { return WorksFor::here(&pool_) || lanes_->is_thread_of_a_device(); }
  /// Marks the calling thread as one that works for the run, and its pipeline, until it ends.
  void work_here() const noexcept { WorksFor::until_its_end(&pool_); }
  /// Stops it and ends its lanes, for a thread that works for it and will not return: the rest goes on to wait for that
  /// thread.
  ///
  /// Blocks: as LaneSet::end_but_for_this_thread.
  void end_but_for_this_thread() noexcept;
  /// Cancels what no device has started, and asks the producers to end.
  void stop() noexcept;
  /// Requested when no more input is wanted: stopped, ended, every device lost, or every tile stranded.
  std::stop_token enough() const noexcept { return enough_.get_token(); }
  /// Requested by `stop`.
  std::stop_token stopped() const noexcept { return stopped_.get_token(); }
  bool ending() const noexcept { return enough_.stop_requested(); }

  /// Has a thread of its own work in the graph, for an application that is not going to wait yet.
  ///
  /// Throws: Error, if the system refuses the thread; std::bad_alloc.
  void start_graph_thread();
  /// Throws: Error, if this thread or another must not finish the run now.
  void claim_finish();
  /// Waits for the last completion, finishes and merges the stages.
  ///
  /// Blocks: until then; `end_of_input` must have been called, or be called by another thread.
  Report finish();
  /// CPUs that lanes and consumers are bound to. The thread that calls Pipeline::run is a consumer, which is not bound.
  std::vector<PlacedThreads> placed() const;
  Stages const& stages() const noexcept { return stages_; }
  /// Notes why the input ended before its end; null for no reason.
  void note_input_failure(std::shared_ptr<Failure const> failure) noexcept {
    outcomes_.note_input_failure(std::move(failure));
  }

 private:
  void wind_up() noexcept;
  Report report_with(std::vector<std::shared_ptr<Failure const>> const& of_lanes);

  Input const input_;
  Pool const& pool_;
  Stages const stages_;
  CpuSet const graph_thread_cpus_;
  bool const enters_graph_;                   ///< If false, consumers have nothing to do.
  bool const graphs_asked_;                   ///< Asked for by Graphs::always.
  std::atomic<bool> promise_missing_{false};  ///< They were asked for, of a stage that may not be captured.
  Clock::time_point const started_ = Clock::now();
  std::chrono::nanoseconds const cpu_before_;  ///< CPU time that the process had used.
  /// It is given back for the report, if there is no memory for that: the tiles are done by then.
  std::unique_ptr<std::byte[]> memory_for_report_ = std::make_unique<std::byte[]>(std::size_t{64} << 10);
  std::stop_source enough_;
  std::stop_source stopped_;
  std::atomic<bool> finish_claimed_{false};
  Rundown& open_input_;
  std::atomic<bool> input_ended_{false};
  bool wound_up_ = false;
  std::atomic<std::uint64_t> next_sequence_{0};
  RunOutcomes outcomes_;
  bool const to_completion_;  ///< It was asked for.
  std::unique_ptr<LanesBring> const lanes_bring_;
  /// The lanes complete into it, so they die first.
  TileRoute route_;
  std::unique_ptr<LaneSet> lanes_;
  std::promise<void> attached_;  ///< Set by `graph_thread_`.
  BoundThread graph_thread_;
  CpuSet graph_thread_bound_to_;
  std::optional<std::string> graph_thread_unbound_;  ///< The reason why it is not bound.
};

}  // namespace penstock
