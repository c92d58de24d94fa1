// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/run.hpp"

#include <exception>
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
           .tiles = pool.size(),
           .consumers = options.consumers,
           .spin = enters_graph(options) ? options.borrow_spin.value_or(std::chrono::microseconds(0))
                                         : std::chrono::microseconds(0),
           .cpus = graph_cpus,
           .owner = &pool,
           .recorder = options.recorder,
           .ranges = options.ranges},
          [this](Journey& journey) { to_lanes(journey); }, [this](Journey& journey) { to_sink(journey); }) {
  if (recorder_ != nullptr) recorder_->set_tiles(pool.size());
  LaneOptions lane_options;
  static_assert(PipelineOptions::for_ever >= spin_for_ever);
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
  Stages marked = stages_;
  marked.make = [this](StageContext const& context) {
    work_here();  // The lane's thread: all calls of the stage come on it.
    return stages_.make(context);
  };
  lanes_ = std::make_unique<LaneSet>(lanes, pool.shape(), pool.size(), lane_options, marked,
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
  // Not decided by `open_input_`: it may be open for the next run by the time that this one dies.
  if (input_ended_.exchange(true)) return;
  open_input_.close();
  enough_.request_stop();
  lanes_->flush();
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

void Run::end_but_for_this_thread() noexcept {
  stop();
  lanes_->end_but_for_this_thread();
}

void Run::to_lanes(Journey& journey) {
  Loan loan = std::move(journey.completion.loan);
  // From here on the journey belongs to the thread that completes the tile.
  if (!lanes_->submit(loan)) from_lanes(Completion::cancelled(std::move(loan)));
}

void Run::from_lanes(Completion completion) {
  Journey& journey = journeys_[completion.loan->index()];
  bool const failed = completion.outcome == Outcome::failed;
  journey.completion = std::move(completion);
  if (recorder_ != nullptr) journey.completed = Clock::now();
  graph_.arrive(journey);
  // Without a tile to lend, no thread would come to submit one. The cause of the failure does not matter here: the last
  // tile to be stranded may have a failure of its own.
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
    Noted const noted{current_failure("sink", ErrorKind::bad_argument), sequence, tag};
    std::scoped_lock const lock(report_mutex_);
    ++report_.sink_failures;
    if (first_sink_failure_.failure == nullptr) first_sink_failure_ = noted;
    if (first_failure_.failure == nullptr) first_failure_ = noted;
  }
  auto const ended = Clock::now();
  sink_time_.fetch_add((ended - began).count(), std::memory_order_relaxed);
  if (recorder_ == nullptr || !recorder_->wants(sequence)) return;
  if (completed != Clock::time_point{}) recorder_->note(deliver_row_, Step::deliver, sequence, completed, began);
  recorder_->note_here(Step::sink, sequence, began, ended);
}

/// Counts those that are not done: the lanes have counted the others.
void Run::count(Completion const& completion) {
  if (completion.ok()) return;
  std::scoped_lock const lock(report_mutex_);
  if (completion.outcome == Outcome::cancelled) {
    ++report_.tiles_cancelled;
    return;
  }
  ++report_.tiles_failed;
  if (first_failure_.failure != nullptr) return;
  first_failure_ = {completion.failure, completion.loan->sequence, completion.loan->tag};
}

std::optional<FirstFailure> Run::Noted::told() const {
  if (failure == nullptr) return std::nullopt;
  return FirstFailure{*failure, sequence, tag};
}

void Run::note_input_failure(std::shared_ptr<Failure const> failure) noexcept {
  if (failure == nullptr) return;
  std::scoped_lock const lock(report_mutex_);
  if (first_failure_.failure == nullptr) first_failure_ = {failure, std::nullopt, 0};
  input_failure_ = std::move(failure);
}

void Run::start_graph_thread() {
  auto ready = attached_.get_future();
  graph_thread_ = BoundThread("ps-graph", graph_cpus_, [this](std::stop_token const&) {
    try {
      graph_.attach();
    } catch (...) {
      return attached_.set_exception(std::current_exception());
    }
    attached_.set_value();
    graph_.wait();
  });
  try {
    ready.get();
  } catch (...) {
    graph_thread_ = BoundThread();  // The thread that winds up waits in the graph itself.
    throw;
  }
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
  if (working_here()) {
    throw Error(ErrorKind::bad_argument,
                "drain() waits for all sinks and stages, and was called by one: call it from another thread.");
  }
  if (finish_claimed_.exchange(true)) {
    throw Error(ErrorKind::bad_argument, "The pipeline is being drained already, by another thread.");
  }
}

Report Run::finish() {
  wind_up();
  auto const failures = lanes_->merge(stages_);
  std::scoped_lock const lock(report_mutex_);
  if (input_failure_ != nullptr) report_.run_failures.push_back(*input_failure_);
  for (auto const& failure : failures) {
    report_.run_failures.push_back(*failure);
    if (first_failure_.failure == nullptr) first_failure_ = {failure, std::nullopt, 0};
  }
  report_.first_failure = first_failure_.told();
  report_.first_sink_failure = first_sink_failure_.told();
  report_.lanes = lanes_->summaries();
  for (LaneSummary const& lane : report_.lanes) {
    report_.tiles_done += lane.tiles;
    report_.bytes_in += lane.bytes_up;
    report_.bytes_out += lane.bytes_down;
  }
  report_.sink = std::chrono::nanoseconds(sink_time_.load());
  report_.stopped = stopped_.load();
  for (auto& remark : graph_.remarks()) report_.remarks.push_back(std::move(remark));
  for (auto& remark : lanes_->remarks()) report_.remarks.push_back(std::move(remark));
  report_.wall = Clock::now() - started_;
  return report_;
}

}  // namespace penstock
