// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/tile_route.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/works_for.hpp"
#include "penstock/clock.hpp"

namespace penstock {
TileRoute::TileRoute(Options const& options, Pool const& pool, std::span<TileRecord> records, Sink sink,
                     RunOutcomes& outcomes, std::stop_source enough)
    : pool_(pool),
      records_(records),
      stage_order_(options.stage_order),
      outcomes_(outcomes),
      enough_(std::move(enough)),
      parallel_sink_(options.parallel_sink),
      recorder_(options.recorder),
      ranges_(options.ranges),
      sink_work_(*this, std::move(sink), options),
      graph_(options.consumers, options.spin, options.cpus) {
  for (std::size_t lane = 0; lane < options.lanes; ++lane) ways_back_.emplace_back(*this);
  if (stage_order_.in_sequence) turnstile_.emplace(records.size());
  add_nodes(options);
  graph_.start();
}

void TileRoute::add_nodes(Options const& options) {
  std::vector<GraphNode> const nodes = nodes_of(options);
  std::vector<GraphPlace*> made;
  for (GraphNode const& node : nodes) {
    switch (node.kind) {
      case GraphNode::Kind::host_stage: {
        HostWork& work = host_.emplace_back(*this, options.host_stages[host_.size()], node.name, !node.to.empty());
        made.push_back(work.station = &graph_.add(node.at_once, work));
        break;
      }
      case GraphNode::Kind::lanes: {
        LanesNode& lanes = graph_.add_lanes(node.at_once, lanes_work_);
        for (std::size_t lane = 0; lane < ways_back_.size(); ++lane) ways_back_[lane].out = &lanes.way_out(lane);
        no_lane_ = &lanes.way_out(ways_back_.size());
        made.push_back(&lanes);
        break;
      }
      case GraphNode::Kind::order:
        made.push_back(order_station_ = &graph_.add(node.at_once, order_.emplace(*this, records_.size())));
        break;
      case GraphNode::Kind::sink:
        made.push_back(&graph_.add(node.at_once, sink_work_));
        break;
    }
  }
  for (std::size_t from = 0; from < nodes.size(); ++from) {
    for (std::size_t const to : nodes[from].to) Graph::join(*made[from], *made[to]);
  }
}

void TileRoute::send(Loan loan, std::shared_ptr<Failure const> failure) {
  TileRecord& record = records_[loan->index()];
  record.sequence = loan->sequence;
  Outcome const outcome = failure != nullptr ? Outcome::failed : Outcome::done;
  record.completion = {std::move(loan), outcome, std::move(failure)};
  graph_.owe();  // It is owed until it is delivered.
  if (!host_.empty()) return host_.front().station->push(record);
  find_key(record);
  to_lane(record);
}

TileRoute::HostWork::HostWork(TileRoute& of, HostStage its, std::string name_of_node, bool has_edge)
    : route(of),
      stage(std::move(its)),
      name(std::move(name_of_node)),
      title(stage.name.empty() ? "H" + name.substr(1) : "Host stage '" + name + "'"),
      leads_on(has_edge) {}

void TileRoute::HostWork::take(TileRecord& record, bool /*follows*/) noexcept {
  WorksFor const working(&route.pool_);
  HostTime::forget();  // The graph's thread most often waited before.
  route.work_on_host(*this, record);
  if (this == &route.host_.back()) route.find_key(record);
  if (leads_on) return station->pass_on(record);
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

/// Asks the user's function, which must not be called while an edge is locked.
void TileRoute::find_key(TileRecord& record) noexcept {
  if (!stage_order_.key || record.completion.failure != nullptr) return;
  try {
    record.key = stage_order_.key(*record.completion.loan);
  } catch (...) {
    record.completion.outcome = Outcome::failed;
    record.completion.failure = current_failure("stage", ErrorKind::bad_argument);
  }
}

/// A tile that failed before the lanes keeps its place and goes straight to the sink.
void TileRoute::to_lane(TileRecord& record) {
  if (turnstile_) return to_lane_in_turn(record);
  if (record.completion.failure != nullptr) return to_sink(record);
  Loan loan = std::move(record.completion.loan);
  // From here on the record belongs to the thread that completes the tile.
  if (!lanes_.load(std::memory_order_acquire)->submit(loan)) cancel(std::move(loan));
}

void TileRoute::to_lane_in_turn(TileRecord& record) {
  turnstile_->bring(record, record.sequence, [this](TileRecord& next) {
    if (next.completion.failure != nullptr) return to_sink(next);
    std::uint64_t const key = next.key;
    Loan loan = std::move(next.completion.loan);
    if (!lanes_.load(std::memory_order_acquire)->submit(loan, key)) cancel(std::move(loan));
  });
}

/// Cancels a tile that no lane takes.
void TileRoute::cancel(Loan loan) {
  TileRecord& record = records_[loan->index()];
  record.completion = Completion::cancelled(std::move(loan));
  if (recorder_ != nullptr) record.completed = Clock::now();
  to_sink(record);
}

void TileRoute::WayBack::take(Completion completion, bool more) {
  TileRecord& record = route.records_[completion.loan->index()];
  bool const failed = completion.outcome == Outcome::failed;
  record.completion = std::move(completion);
  record.completion.loan->sequence = record.sequence;
  if (route.recorder_ != nullptr) record.completed = Clock::now();
  if (out == nullptr) {
    route.sink_work_.take(record, false);
  } else {
    kept.add(record);
    if (++count == limit || !more) {
      limit = more ? std::min(2 * limit, most_kept) : 1;
      count = 0;
      out->try_put(std::exchange(kept, {}));
    }
  }
  if (failed) route.end_if_no_lane_is_left();
}

/// Asks for no more input if no lane is left, or every tile is stranded: without a tile to lend no thread would come to
/// submit one. Called for each tile that failed, too. The cause does not matter: the last tile to be stranded may have
/// a failure of its own.
void TileRoute::end_if_no_lane_is_left() noexcept {
  TileTaker const* const lanes = lanes_.load(std::memory_order_acquire);
  if (lanes == nullptr) return;
  if (lanes->lost() || pool_.stranded() == pool_.size()) enough_.request_stop();
}

/// Sends a tile that no lane had to the sink.
void TileRoute::to_sink(TileRecord& record) noexcept {
  record.completion.loan->sequence = record.sequence;
  if (no_lane_ == nullptr) return sink_work_.take(record, false);
  RecordGroup alone;
  alone.add(record);
  no_lane_->try_put(alone);
}

/// A record that is only kept calls no sink, so the one behind it does not follow a call.
void TileRoute::OrderWork::take(TileRecord& record, bool follows) noexcept {
  if (!follows) called_sink = false;
  order.take(record, [&](TileRecord& next) {
    if (route.parallel_sink_) return route.order_station_->pass_on(next);
    route.sink_work_.take(next, std::exchange(called_sink, true));
  });
}

TileRoute::SinkWork::SinkWork(TileRoute& of, Sink its, Options const& options)
    : route(of),
      sink(std::move(its)),
      one_at_a_time(!options.parallel_sink && (options.ordered || !options.sink_at_once)),
      row(options.recorder != nullptr ? options.recorder->add_row("to the sink", RecordRow::Kind::queue) : 0) {}

/// If one call of the sink follows another, the end of that is the start of this one, which saves a reading of the
/// clock.
void TileRoute::SinkWork::take(TileRecord& record, bool follows) noexcept {
  {
    WorksFor const working(&route.pool_);
    Completion completion = std::move(record.completion);
    // The record is another tile's as soon as the loan has died.
    auto const completed = std::exchange(record.completed, {});
    route.outcomes_.note(completion, one_at_a_time);
    // These are kept, because the sink may move the loan out before it throws.
    auto const sequence = completion.loan->sequence;
    auto const tag = completion.loan->tag;
    auto const began = follows ? ended : Clock::now();
    try {
      RangeHere const range(route.ranges_, Step::sink, sequence);
      sink(completion);
      HostTime::pay();
    } catch (...) {
      route.outcomes_.note_sink_failure(current_failure("sink", ErrorKind::bad_argument), sequence, tag);
    }
    auto const now = Clock::now();
    if (one_at_a_time) ended = now;
    route.outcomes_.add_sink_time(now - began, one_at_a_time);
    StepLog* const recorder = route.recorder_;
    if (recorder != nullptr && recorder->wants(sequence)) {
      if (completed != Clock::time_point{}) recorder->note(row, Step::deliver, sequence, completed, began);
      recorder->note_here(Step::sink, sequence, began, now);
    }
  }
  route.graph_.settle();
}

}  // namespace penstock
