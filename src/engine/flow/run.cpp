// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/run.hpp"

#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "engine/core/pool.hpp"
#include "penstock/clock.hpp"

namespace penstock {
namespace {

/// CPU time of all threads of the process.
std::chrono::nanoseconds cpu_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

LaneOptions lane_options(PipelineOptions const& options) {
  static_assert(Tuning::for_ever >= spin_for_ever);
  LaneOptions own;
  own.spin = options.tuning.spin.value_or(std::chrono::microseconds(0));
  own.flight = {.slots = options.tuning.slots,
                .streams = options.tuning.streams,
                .shape = options.tuning.shape,
                .transport = options.tuning.transport,
                .graphs = options.tuning.graphs,
                .priority = options.tuning.priority,
                .patience = options.tuning.patience,
                .recorder = options.watching.recorder,
                .step_by_step = options.watching.step_by_step,
                .red_zones = options.watching.red_zones};
  own.batch = options.tuning.batch;
  own.signal = options.tuning.signal;
  own.spare = options.tuning.spare;
  own.ranges = options.watching.ranges;
  return own;
}

}  // namespace

TileRoute::Options route_options(PipelineOptions const& options, StageOrder const& order, std::size_t lanes,
                                 std::vector<CpuSet> const& consumers) {
  auto const spin = options.tuning.borrow_spin.value_or(std::chrono::microseconds(0));
  return {.host_stages = options.host_stages,
          .stage_order = order,
          .ordered = options.ordered,
          .parallel_sink = options.parallel_sink,
          .sink_at_once = options.tuning.sink_on_lanes,
          .lanes = lanes,
          .consumers = options.consumers,
          .spin = enters_graph(options) ? spin : std::chrono::microseconds(0),
          .cpus = consumers,
          .recorder = options.watching.recorder,
          .ranges = options.watching.ranges};
}

Run::Run(Input input, Rundown& open_input, Pool& pool, std::span<TileRecord> records,
         std::vector<LanePlace> const& lanes, PipelineOptions const& options,
         std::span<std::unique_ptr<RunHook> const> hooks, std::vector<CpuSet> const& consumers, Stages stages,
         Sink sink)
    : input_(input),
      pool_(pool),
      stages_(std::move(stages)),
      graph_thread_cpus_(consumers.front()),
      enters_graph_(enters_graph(options)),
      graphs_asked_(options.tuning.graphs == Graphs::always),
      cpu_before_(cpu_time()),
      open_input_(open_input),
      to_completion_(options.tuning.run_to_completion),
      lanes_bring_(input == Input::pulled && to_completion_ && !stages_.order.key
                       ? std::make_unique<LanesBring>(lanes.size())
                       : nullptr),
      route_(route_options(options, stages_.order, lanes.size(), consumers), pool, records, std::move(sink), outcomes_,
             enough_) {
  if (options.watching.recorder != nullptr) options.watching.recorder->set_tiles(pool.size());
  Stages marked = stages_;
  marked.make = [this](StageContext const& context) {
    work_here();  // The lane's thread: all calls of the stage come on it.
    auto stage = stages_.make(context);
    if (graphs_asked_ && stage != nullptr && !stage->promises().capturable) promise_missing_.store(true);
    return stage;
  };
  LaneOptions of_lanes = lane_options(options);
  of_lanes.flight.hooks = hooks;
  of_lanes.bringer = lanes_bring_.get();
  of_lanes.in_order = stages_.order.in_sequence;
  std::vector<CompletionTaker*> ways_back;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) ways_back.push_back(&route_.way_back(lane));
  lanes_ = std::make_unique<LaneSet>(lanes, pool.shape(), pool.size(), of_lanes, marked, ways_back);
  route_.lead_to(*lanes_);
  route_.graph().open_input();
  open_input_.open();
}

Run::~Run() {
  if (wound_up_) return;
  stop();
  end_of_input();
  wind_up();
}

void Run::submit(Loan loan) {
  loan->sequence = next_sequence_.fetch_add(1, std::memory_order_relaxed);
  route_.send(std::move(loan), nullptr);
}

void Run::end_of_input() {
  // `open_input_` does not decide this: it may be open for the next run by the time that this one dies.
  if (input_ended_.exchange(true)) return;
  open_input_.close();
  enough_.request_stop();
  lanes_->flush();
  route_.graph().end_input();
}

void Run::give_up() {
  if (input_ended_.load()) return;
  stop();
  end_of_input();
}

void Run::stop() noexcept {
  stopped_.request_stop();
  enough_.request_stop();
  lanes_->cancel();
}

void Run::end_but_for_this_thread() noexcept {
  // The run does not end for any thread from here on, because the process ends.
  route_.graph().open_input();
  stop();
  lanes_->end_but_for_this_thread();
}

void Run::start_graph_thread() {
  auto ready = attached_.get_future();
  graph_thread_ = BoundThread("ps-graph", graph_thread_cpus_, [this](std::stop_token const&) {
    try {
      route_.graph().attach();
    } catch (...) {
      return attached_.set_exception(std::current_exception());
    }
    attached_.set_value();
    route_.graph().wait();
  });
  try {
    ready.get();
  } catch (...) {
    graph_thread_ = BoundThread();  // The thread that winds up waits in the graph itself.
    throw;
  }
  graph_thread_bound_to_ = graph_thread_.bound_to();
  graph_thread_unbound_ = graph_thread_.binding_error();
}

/// Once the last tile is complete: ends every thread, whatever happened to it.
void Run::wind_up() noexcept {
  wound_up_ = true;
  if (graph_thread_.joinable()) {
    graph_thread_ = BoundThread();  // It only waited in the graph.
  } else {
    route_.graph().wait();
  }
  lanes_->close();
}

void Run::claim_finish() {
  if (input_ == Input::pulled) {
    throw Error(ErrorKind::bad_argument, "The pipeline is pulling a source: its run waits and reports.");
  }
  if (working_here()) {
    throw Error(ErrorKind::bad_argument,
                "A drain waits for all sinks, stages and kernels, and was called by one: call it from another thread.");
  }
  if (finish_claimed_.exchange(true)) {
    throw Error(ErrorKind::bad_argument, "The pipeline is being drained already, by another thread.");
  }
}

void Run::write_to(Snapshot& snapshot) const {
  outcomes_.write_to(snapshot);
  snapshot.lanes = lanes_->snapshots();
  snapshot.submitted = route_.sent();
}

std::vector<PlacedThreads> Run::placed() const {
  std::vector<PlacedThreads> all{{"lane", lanes_->bound_to()}};
  if (!enters_graph_) return all;
  all.push_back({"consumer", route_.graph().bound_to()});
  all.back().cpus.push_back(graph_thread_bound_to_);
  return all;
}

Report Run::finish() {
  wind_up();
  auto const of_lanes = lanes_->merge(stages_);
  try {
    return report_with(of_lanes);
  } catch (std::bad_alloc const&) {
    memory_for_report_.reset();
    return report_with(of_lanes);
  }
}

Report Run::report_with(std::vector<std::shared_ptr<Failure const>> const& of_lanes) {
  Report report;
  outcomes_.write_to(report, of_lanes);
  report.lanes = lanes_->summaries();
  for (LaneSummary const& lane : report.lanes) {
    report.tiles_done += lane.tiles;
    report.bytes_in += lane.bytes_up;
    report.bytes_out += lane.bytes_down;
  }
  report.stopped = stopped_.stop_requested();
  for (auto& remark : route_.graph().remarks()) report.remarks.push_back(std::move(remark));
  if (graph_thread_unbound_) report.remarks.push_back(*graph_thread_unbound_);
  for (auto& remark : lanes_->remarks()) report.remarks.push_back(std::move(remark));
  if (to_completion_ && lanes_bring_ == nullptr && input_ == Input::pulled) {
    report.remarks.emplace_back(
        "Tiles were not run to completion: their stage sees them in order by a key, so one lane may have to compute "
        "what another has filled. Producers filled them.");
  }
  if (promise_missing_.load()) {
    report.remarks.emplace_back(
        "The stage was not launched as a graph: it does not promise to be capturable (Promises::capturable).");
  }
  report.wall = Clock::now() - started_;
  report.cpu = cpu_time() - cpu_before_;
  return report;
}

}  // namespace penstock
