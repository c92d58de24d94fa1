// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/producers.hpp"

#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/works_for.hpp"
#include "engine/flow/run.hpp"
#include "penstock/clock.hpp"

namespace penstock {
namespace {

constexpr std::chrono::microseconds worth_a_sleep{50};

}  // namespace

Producers::Producers(Run& run, Pool& pool, Source& source, std::vector<ProducerPlace> const& places,
                     std::chrono::nanoseconds patience, StepLog* recorder, Ranges* ranges)
    : run_(run),
      pool_(pool),
      source_(source),
      places_(places),
      recorder_(recorder),
      ranges_(ranges),
      pass_on_(run.enough(), [this] { enough_.request_stop(); }),
      reserve_(pool),
      crew_(places.size(), pool.parts(), enough_.get_token(), Crew::usual_patience,
            [this](Clock::time_point now) { reserve_.fit(crew_, now); }),
      kept_(pool, patience),
      going_(places.size()) {
  if (LanesBring* const bring = run_.lanes_bring()) {
    bring->begin(*this);
    run_.wake_lanes();
  } else {
    start_threads();
  }
}

void Producers::start_threads() {
  try {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      threads_.emplace_back("ps-fill-" + std::to_string(k), places_[k].cpus,
                            [this, k](std::stop_token const&) { produce(k); });
    }
  } catch (...) {
    all_are_there_.set_value(false);
    throw;
  }
  all_are_there_.set_value(true);
}

std::vector<std::string> Producers::remarks() const {
  std::vector<std::string> all;
  for (auto const& thread : threads_) {
    if (thread.binding_error()) all.push_back(*thread.binding_error());
  }
  return all;
}

std::vector<CpuSet> Producers::bound_to() const {
  std::vector<CpuSet> all;
  for (auto const& thread : threads_) all.push_back(thread.bound_to());
  return all;
}

Producers::~Producers() {
  enough_.request_stop();
  if (LanesBring* const bring = run_.lanes_bring()) bring->end();
}

void Producers::produce(std::size_t worker) {
  WorksFor::until_its_end(&pool_);
  auto const stop = enough_.get_token();
  try {
    // A run that cannot start asks the source for nothing: the next run would miss those tiles.
    bool const all_are_there = began_.get();
    for (auto asked = Clock::now(); all_are_there && !stop.stop_requested();) {
      if (crew_.rests(worker)) {
        crew_.rest(worker);
        asked = Clock::now();
      }
      Crew::Turn turn;
      if (!produce_next(stop, worker, asked, turn)) break;
      asked = Clock::now();
      crew_.note(worker, asked, turn);
    }
  } catch (
      ...) {  // No memory to wait with, say. A thread that leaves is still counted, since the last one tells the end.
    end_input(current_failure("source", ErrorKind::system));
  }
  if (going_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ended();
}

bool Producers::bring(std::size_t lane) noexcept {
  try {
    auto const asked = Clock::now();
    Crew::Turn turn;
    return !enough_.stop_requested() && produce_next(enough_.get_token(), lane, asked, turn);
  } catch (...) {
    end_input(current_failure("source", ErrorKind::system));
    return false;
  }
}

/// `asked` is when it began to wait for a tile. False if the input has ended, or no more of it is wanted.
bool Producers::produce_next(std::stop_token const& stop, std::size_t worker, Clock::time_point asked,
                             Crew::Turn& turn) {
  std::size_t const part = places_[worker].pool_part;
  std::optional<Loan> loan;
  {
    RangeHere const range(ranges_, Step::borrow);
    loan = pool_.try_borrow(part);
    if (!loan) loan = kept_.wait(stop, part, [this](std::size_t waiting) { return all_kept(waiting); });
  }
  // The clock is read three times for a tile. Each read takes as long as much else here (docs/decisions/threads.md).
  auto began = Clock::now();
  turn.waited = began - asked;
  borrow_wait_.fetch_add(turn.waited.count(), std::memory_order_relaxed);
  if (!loan || stop.stop_requested()) return false;
  auto const sequence = claim(**loan, began);
  if (sequence) produce_one(std::move(*loan), *sequence, began, turn);
  return sequence.has_value();
}

void Producers::all_ended() {
  run_.note_input_failure(failure_);
  run_.end_of_input();
}

/// No tile is under way, and no producer has one: the sink keeps them.
bool Producers::all_kept(std::size_t waiting) const noexcept {
  std::size_t const producers = run_.lanes_bring() != nullptr ? run_.lanes() : crew_.at_work();
  return run_.under_way() == 0 && waiting >= producers;
}

/// `began` is when the source was asked for it.
void Producers::produce_one(Loan loan, std::uint64_t sequence, Clock::time_point began, Crew::Turn& turn) {
  std::shared_ptr<Failure const> failure;
  bool const recorded = recorder_ != nullptr && recorder_->wants(sequence);
  auto const began_fill = recorded ? Clock::now() : began;
  try {
    RangeHere const range(ranges_, Step::fill, sequence);
    loan->filled = source_.fill(*loan);
    expect_filled_fits(*loan, "The source");
    HostTime::pay();
  } catch (...) {
    loan->forget_filled();
    failure = current_failure("source", ErrorKind::system);
  }
  auto const ended = Clock::now();
  turn.filled = ended - began;
  fill_.fetch_add(turn.filled.count(), std::memory_order_relaxed);
  if (recorded) {
    recorder_->note_here(Step::borrow, sequence, began_fill - turn.waited, began_fill);
    recorder_->note_here(Step::fill, sequence, began_fill, ended);
  }
  loan->sequence = sequence;  // The source may have changed it.
  run_.route().send(std::move(loan), std::move(failure));
}

/// Gives the tile its place; nothing at the end of the input. `began` becomes when the source is asked: a wait for
/// other producers is no time of the source.
std::optional<std::uint64_t> Producers::claim(Tile& tile, Clock::time_point& began) {
  std::unique_lock lock(claim_mutex_, std::try_to_lock);
  if (!lock) {
    lock.lock();
    began = Clock::now();
  }
  if (input_ended_) return std::nullopt;
  bool more = false;
  try {
    tile.sequence = next_sequence_;
    more = source_.next(tile);
    // A source that fills here holds the lock for as long on a modelled machine. Others must not sleep under it.
    if (Clock::slower() != 1 && Clock::real(Clock::now() - began) > worth_a_sleep) HostTime::pay();
  } catch (...) {
    failure_ = current_failure("source", ErrorKind::system);
  }
  if (more) return next_sequence_++;
  fill_.fetch_add((Clock::now() - began).count(), std::memory_order_relaxed);
  input_ended_ = true;
  enough_.request_stop();
  return std::nullopt;
}

void Producers::end_input(std::shared_ptr<Failure const> why) {
  std::scoped_lock const lock(claim_mutex_);
  input_ended_ = true;
  if (failure_ == nullptr) failure_ = std::move(why);
  enough_.request_stop();
}

}  // namespace penstock
