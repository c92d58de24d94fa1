// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/tile_route.hpp"

#include <utility>

#include "penstock/clock.hpp"
#include "penstock/core/failure_text.hpp"
#include "penstock/core/host_time.hpp"
#include "penstock/core/works_for.hpp"

namespace penstock {
TileRoute::TileRoute(Options const& options, Pool const& pool, std::span<TileRecord> records, Sink sink,
                     RunOutcomes& outcomes, std::stop_source enough)
    : pool_(pool),
      records_(records),
      sink_(std::move(sink)),
      stage_order_(options.stage_order),
      outcomes_(outcomes),
      enough_(std::move(enough)),
      parallel_sink_(options.parallel_sink),
      recorder_(options.recorder),
      ranges_(options.ranges),
      deliver_row_(recorder_ != nullptr ? recorder_->add_row("to the sink", RecordRow::Kind::queue) : 0),
      graph_(options.consumers, options.spin, options.cpus) {
  if (options.ordered ? parallel_sink_ : !options.sink_at_once) {
    sink_station_ = &graph_.add(parallel_sink_ ? Station::unlimited : 1, sink_work_);
  }
  if (options.ordered) order_station_ = &graph_.add(1, order_.emplace(*this, records.size()));
  for (HostStage const& stage : options.host_stages) {
    HostWork& work = host_.emplace_back(*this, stage, host_.size() + 1);
    work.station = &graph_.add(stage.at_once, work);
    if (host_.size() > 1) host_[host_.size() - 2].next = &work;
  }
  if (stage_order_.in_sequence) turnstile_.emplace(records.size());
  graph_.start();
}

void TileRoute::send(Loan loan, std::shared_ptr<Failure const> failure) {
  sent_.fetch_add(1, std::memory_order_relaxed);
  TileRecord& record = records_[loan->index()];
  record.sequence = loan->sequence;
  Outcome const outcome = failure != nullptr ? Outcome::failed : Outcome::done;
  record.completion = {std::move(loan), outcome, std::move(failure)};
  graph_.owe();  // Until it is delivered.
  if (!host_.empty()) return host_.front().station->push(record);
  to_lane(record);
}

TileRoute::HostWork::HostWork(TileRoute& of, HostStage its, std::size_t number)
    : route(of),
      stage(std::move(its)),
      name(stage.name.empty() ? "host stage " + std::to_string(number) : stage.name),
      title(stage.name.empty() ? "Host stage " + std::to_string(number) : "Host stage '" + stage.name + "'") {}

void TileRoute::HostWork::take(TileRecord& record) noexcept {
  WorksFor const working(&route.pool_);
  HostTime::forget();  // What the graph's thread did before was most often to wait.
  route.work_on_host(*this, record);
  if (next != nullptr) return next->station->push(record);
  route.to_lane(record);
}

void TileRoute::work_on_host(HostWork const& work, TileRecord& record) noexcept {
  if (record.completion.failure != nullptr) return;
  auto const began = Clock::now();
  try {
    RangeHere const range(ranges_, Step::host, record.sequence);
    work.stage.body(*record.completion.loan);
    expect_filled_fits(*record.completion.loan, work.title);
    HostTime::pay();
  } catch (...) {
    record.completion.loan->forget_filled();
    record.completion.outcome = Outcome::failed;
    record.completion.failure = current_failure(work.name, ErrorKind::bad_argument);
  }
  if (recorder_ == nullptr || !recorder_->wants(record.sequence)) return;
  recorder_->note_here(Step::host, record.sequence, began, Clock::now());
}

/// A tile that failed before the lanes keeps its place and goes straight to the sink.
void TileRoute::to_lane(TileRecord& record) {
  if (turnstile_) return to_lane_in_turn(record);
  if (record.completion.failure != nullptr) return to_sink(record);
  Loan loan = std::move(record.completion.loan);
  // From here on the record belongs to the thread that completes the tile.
  if (!lanes_.load(std::memory_order_acquire)->submit(loan)) from_lane(Completion::cancelled(std::move(loan)));
}

void TileRoute::to_lane_in_turn(TileRecord& record) {
  try {
    if (stage_order_.key && record.completion.failure == nullptr)
      record.key = stage_order_.key(*record.completion.loan);
  } catch (...) {
    record.completion.outcome = Outcome::failed;
    record.completion.failure = current_failure("stage", ErrorKind::bad_argument);
  }
  turnstile_->bring(record, record.sequence, [this](TileRecord& next) {
    if (next.completion.failure != nullptr) return to_sink(next);
    std::uint64_t const key = next.key;
    Loan loan = std::move(next.completion.loan);
    if (!lanes_.load(std::memory_order_acquire)->submit(loan, key)) from_lane(Completion::cancelled(std::move(loan)));
  });
}

void TileRoute::from_lane(Completion completion) {
  TileRecord& record = records_[completion.loan->index()];
  bool const failed = completion.outcome == Outcome::failed;
  record.completion = std::move(completion);
  if (recorder_ != nullptr) record.completed = Clock::now();
  to_sink(record);
  if (failed) end_if_no_lane_is_left();
}

/// Asked of every tile that failed, too. The cause does not matter: the last tile to be stranded may have a failure of
/// its own.
void TileRoute::end_if_no_lane_is_left() noexcept {
  TileTaker const* const lanes = lanes_.load(std::memory_order_acquire);
  if (lanes == nullptr) return;
  if (lanes->lost() || pool_.stranded() == pool_.size()) enough_.request_stop();
}

void TileRoute::to_sink(TileRecord& record) noexcept {
  record.completion.loan->sequence = record.sequence;
  if (order_station_ != nullptr) return order_station_->push(record);
  if (sink_station_ != nullptr) return sink_station_->push(record);
  deliver(record);
}

void TileRoute::OrderWork::take(TileRecord& record) noexcept {
  order.take(record, [this](TileRecord& next) {
    if (route.parallel_sink_) return route.sink_station_->push(next);
    route.deliver(next);
  });
}

/// The end of the route: when the loan dies, the tile is home.
void TileRoute::deliver(TileRecord& record) noexcept {
  {
    WorksFor const working(&pool_);
    Completion completion = std::move(record.completion);
    // The record is another tile's as soon as the loan has died.
    auto const completed = std::exchange(record.completed, {});
    outcomes_.note(completion);
    // Kept, because the sink may move the loan out before it throws.
    auto const sequence = completion.loan->sequence;
    auto const tag = completion.loan->tag;
    auto const began = Clock::now();
    try {
      RangeHere const range(ranges_, Step::sink, sequence);
      sink_(completion);
      HostTime::pay();
    } catch (...) {
      outcomes_.note_sink_failure(current_failure("sink", ErrorKind::bad_argument), sequence, tag);
    }
    auto const ended = Clock::now();
    outcomes_.add_sink_time(ended - began);
    if (recorder_ != nullptr && recorder_->wants(sequence)) {
      if (completed != Clock::time_point{}) recorder_->note(deliver_row_, Step::deliver, sequence, completed, began);
      recorder_->note_here(Step::sink, sequence, began, ended);
    }
  }
  graph_.settle();
}

}  // namespace penstock
