// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/run.hpp"

#include <utility>

#include "penstock/core/current_failure.hpp"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Run::Run(Input input, Rundown& open_input, Pool& pool, std::span<Journey> journeys, std::vector<LanePlace> const& lanes,
         PipelineOptions const& options, CpuSet const& graph_cpus, Stages stages, Sink sink)
    : input_(input),
      pool_(pool),
      journeys_(journeys),
      stages_(std::move(stages)),
      sink_(std::move(sink)),
      graph_cpus_(graph_cpus),
      recorder_(options.recorder),
      ranges_(options.ranges),
      deliver_row_(recorder_ != nullptr ? recorder_->add_row("to the sink", RecordRow::Kind::queue) : 0),
      open_input_(open_input),
      graph_(
          {.host_stages = options.host_stages,
           .ordered = options.ordered,
           .parallel_sink = options.parallel_sink,
           .sink_at_once = options.sink_on_lanes,
           .consumers = options.consumers,
           .spin = enters_graph(options) ? options.borrow_spin.value_or(std::chrono::microseconds(0))
                                         : std::chrono::microseconds(0),
           .cpus = graph_cpus,
           .recorder = options.recorder,
           .ranges = options.ranges},
          [this](Journey& journey) { to_lanes(journey); }, [this](Journey& journey) { to_sink(journey); }) {
  if (recorder_ != nullptr) recorder_->set_tiles(pool.size());
  LaneOptions lane_options;
  lane_options.spin = options.spin.value_or(std::chrono::microseconds(0));
  lane_options.flight = {.slots = options.slots,
                         .streams = options.streams,
                         .shape = options.shape,
                         .transport = options.transport,
                         .graphs = options.graphs,
                         .priority = options.priority,
                         .patience = options.patience,
                         .recorder = options.recorder};
  lane_options.batch = options.batch;
  lane_options.signal = options.signal;
  lane_options.ranges = options.ranges;
  lanes_ = std::make_unique<LaneSet>(lanes, pool.shape(), pool.size(), lane_options, stages_,
                                     [this](Completion completion) { from_lanes(std::move(completion)); });
  graph_.hold();  // Until the end of the input.
  open_input_.open();
}

Run::~Run() {
  if (wound_up_) return;
  stop();
  end_of_input();
  wind_up();
}

void Run::enter(Loan loan, Outcome outcome, std::shared_ptr<Failure const> failure) {
  Journey& journey = journeys_[loan->index()];
  journey.completion = {std::move(loan), outcome, std::move(failure)};
  graph_.enter(journey);
}

void Run::send(Loan loan, std::shared_ptr<Failure const> failure) {
  Outcome const outcome = failure != nullptr ? Outcome::failed : Outcome::done;
  enter(std::move(loan), outcome, std::move(failure));
}

void Run::submit(Loan loan) {
  loan->sequence = next_sequence_.fetch_add(1, std::memory_order_relaxed);
  send(std::move(loan), nullptr);
}

void Run::end_of_input() {
  // Not by what is open: that may be the next run's by the time that this one dies.
  if (input_ended_.exchange(true)) return;
  open_input_.close();
  enough_.request_stop();
  lanes_->hurry();
  graph_.release();
}

void Run::give_up() {
  if (input_ended_.load()) return;
  stop();
  end_of_input();
}

void Run::stop() noexcept {
  stopped_.store(true, std::memory_order_release);
  enough_.request_stop();
  lanes_->cancel();
}

void Run::to_lanes(Journey& journey) {
  Loan loan = std::move(journey.completion.loan);
  // From here on the journey belongs to whoever completes the tile.
  if (!lanes_->submit(loan)) from_lanes(Completion::cancelled(std::move(loan)));
}

void Run::from_lanes(Completion completion) {
  Journey& journey = journeys_[completion.loan->index()];
  bool const failed = completion.outcome == Outcome::failed;
  journey.completion = std::move(completion);
  if (recorder_ != nullptr) journey.completed = Clock::now();
  graph_.arrive(journey);
  // Without a tile to lend nobody would come to submit one. Asked whatever it failed of: the last tile to be stranded
  // may have a failure of its own.
  if (failed && (lanes_->lost() || pool_.stranded() == pool_.size())) enough_.request_stop();
}

void Run::to_sink(Journey& journey) {
  Completion completion = std::move(journey.completion);
  // The journey is another tile's as soon as the loan has died.
  auto const completed = std::exchange(journey.completed, {});
  count(completion);
  // Kept, because the sink may move the loan out before it throws.
  auto const sequence = completion.loan->sequence;
  auto const tag = completion.loan->tag;
  auto const began = Clock::now();
  try {
    RangeHere const range(ranges_, Step::sink, sequence);
    sink_(completion);
  } catch (...) {
    auto const failure = current_failure("sink", ErrorKind::bad_argument);
    std::scoped_lock const lock(report_mutex_);
    ++report_.sink_failures;
    FirstFailure const first{*failure, sequence, tag};
    if (!report_.first_sink_failure) report_.first_sink_failure = first;
    if (!report_.first_failure) report_.first_failure = first;
  }
  auto const ended = Clock::now();
  sink_time_.fetch_add((ended - began).count(), std::memory_order_relaxed);
  if (recorder_ == nullptr || !recorder_->wants(sequence)) return;
  if (completed != Clock::time_point{}) recorder_->note(deliver_row_, Step::deliver, sequence, completed, began);
  recorder_->note(recorder_->row_here(), Step::sink, sequence, began, ended);
}

/// Those that are not done: the others the lanes have counted.
void Run::count(Completion const& completion) {
  if (completion.ok()) return;
  std::scoped_lock const lock(report_mutex_);
  if (completion.outcome == Outcome::cancelled) {
    ++report_.tiles_cancelled;
    return;
  }
  ++report_.tiles_failed;
  if (report_.first_failure) return;
  report_.first_failure = FirstFailure{*completion.failure, completion.loan->sequence, completion.loan->tag};
}

void Run::note_failure(std::shared_ptr<Failure const> const& failure) {
  if (failure == nullptr) return;
  std::scoped_lock const lock(report_mutex_);
  report_.run_failures.push_back(*failure);
  if (!report_.first_failure) report_.first_failure = FirstFailure{*failure, std::nullopt, 0};
}

void Run::start_graph_thread() {
  graph_thread_ = BoundThread("ps-graph", graph_cpus_, [this](std::stop_token const&) { graph_.wait(); });
}

/// Once the last tile is complete: ends every thread, whatever happened to it.
void Run::wind_up() noexcept {
  wound_up_ = true;
  if (graph_thread_.joinable()) {
    graph_thread_ = BoundThread();  // It only waited in the graph.
  } else {
    graph_.wait();
  }
  lanes_->close();
}

void Run::claim_finish() {
  if (input_ == Input::pulled) {
    throw Error(ErrorKind::bad_argument, "The pipeline is pulling a source: run() itself waits and reports.");
  }
  if (graph_.working_here()) {
    throw Error(ErrorKind::bad_argument,
                "drain() waits for all sinks and host stages, and was called by one: call it from another thread.");
  }
  if (finish_claimed_.exchange(true)) {
    throw Error(ErrorKind::bad_argument, "The pipeline is being drained already, by another thread.");
  }
}

Report Run::finish() {
  wind_up();
  for (auto const& failure : lanes_->merge(stages_)) note_failure(failure);
  std::scoped_lock const lock(report_mutex_);
  report_.lanes = lanes_->summaries();
  for (LaneSummary const& lane : report_.lanes) {
    report_.tiles_done += lane.tiles;
    report_.bytes_in += lane.bytes_up;
    report_.bytes_out += lane.bytes_down;
  }
  report_.sink = std::chrono::nanoseconds(sink_time_.load());
  report_.stopped = stopped_.load();
  if (graph_.remark()) report_.remarks.push_back(*graph_.remark());
  for (auto& remark : lanes_->remarks()) report_.remarks.push_back(std::move(remark));
  report_.wall = Clock::now() - started_;
  return report_;
}

}  // namespace penstock
