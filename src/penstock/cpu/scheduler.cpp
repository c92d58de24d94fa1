// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

Engine engine_of(Operation const& operation) {
  switch (operation.request.kind) {
    case Kind::upload:
      return Engine::upload;
    case Kind::download:
      return Engine::download;
    case Kind::callback:
      return operation.request.delivery == Delivery::stray ? Engine::compute : Engine::callback;
    default:
      return Engine::compute;
  }
}

}  // namespace

void Scheduler::add(StreamState& stream) {
  std::lock_guard const lock(mutex_);
  streams_.push_back(&stream);
  stream.id = next_stream_id_++;
  if (stream.standing == Standing::legacy) legacy_ = &stream;
}

void Scheduler::remove(StreamState& stream) noexcept {
  Turn turn(mutex_, sleepers_, unused_);
  if (stream.passed != stream.submitted) {
    // A callback that is late, here or in a stream that this one waits for, must not hold up the end.
    ++removals_;
    deliver_late(turn);
    turn.wait(stream.moved, [&] { return stream.passed == stream.submitted; });
    --removals_;
  }
  std::erase(streams_, &stream);
  if (legacy_ == &stream) legacy_ = nullptr;
}

void Scheduler::add(EventState& event) {
  std::lock_guard const lock(mutex_);
  events_.insert(&event);
}

void Scheduler::remove(EventState& event) noexcept {
  std::lock_guard const lock(mutex_);
  if (event.pending != nullptr) event.pending->request.event = nullptr;
  events_.erase(&event);
}

std::size_t Scheduler::streams() const {
  std::lock_guard const lock(mutex_);
  return streams_.size();
}
std::size_t Scheduler::events() const {
  std::lock_guard const lock(mutex_);
  return events_.size();
}

void Scheduler::begin_capture() {
  expect_healthy();
  captures_.fetch_add(1, std::memory_order_relaxed);
}

/// What the operation depends on: `act(Operation&)` is called for each, for one at most twice.
template <class Act>
void Scheduler::for_each_before(StreamState const& stream, Request const& request, Act act) {
  auto const unless_none = [&](Operation* before) {
    if (before != nullptr) act(*before);
  };
  unless_none(stream.last);
  if (stream.standing == Standing::legacy) {
    for (StreamState const* other : streams_) {
      if (other->standing == Standing::blocking) unless_none(other->last);
    }
  } else if (stream.standing == Standing::blocking && legacy_ != nullptr) {
    unless_none(legacy_->last);
  }
  if (request.kind == Kind::wait) unless_none(request.event->pending);
}

/// Does all of an enqueue that may fail, before anything is linked.
void Scheduler::make_room(StreamState const& stream, Request const& request) {
  if (unused_.front() == nullptr) {
    operations_.push_back(std::make_unique<Operation>());
    unused_.push(*operations_.back());
  }
  for_each_before(stream, request, [](Operation& before) {
    auto& dependents = before.dependents;
    // Two, as the last operation of a stream may also be the record that is waited for. Twice as many as there were, so
    // that many dependents take few allocations.
    if (dependents.capacity() - dependents.size() < 2) dependents.reserve(2 * dependents.capacity() + 2);
  });
}

Operation& Scheduler::take_unused(StreamState& stream, Request&& request) noexcept {
  Operation& operation = *unused_.back();
  unused_.remove(operation);
  operation.request = std::move(request);
  operation.stream = &stream;
  operation.unmet = 0;
  operation.started = false;
  operation.next_block.store(0, std::memory_order_relaxed);
  return operation;
}

void Scheduler::order(Operation& operation) noexcept {
  StreamState& stream = *operation.stream;
  for_each_before(stream, operation.request, [&](Operation& before) {
    before.dependents.push_back(&operation);
    ++operation.unmet;
  });
  EventState* const event = operation.request.event;
  if (operation.request.kind == Kind::wait) {
    // The record is captured; the event may now be recorded again, or die.
    operation.request.event = nullptr;
  } else if (operation.request.kind == Kind::record) {
    if (event->pending != nullptr) event->pending->request.event = nullptr;
    event->pending = &operation;
    event->passed_at.reset();
  }
  stream.last = &operation;
  ++stream.submitted;
  ++unfinished_;
}

void Scheduler::enqueue(StreamState& stream, Request request) {
  Turn turn(mutex_, sleepers_, unused_);
  if (lost_) throw Error(*lost_);
  make_room(stream, request);
  Operation& operation = take_unused(stream, std::move(request));
  order(operation);
  if (operation.unmet != 0) return;
  needs_engine(operation) ? make_ready(operation, turn) : pass(operation, turn);
}

bool Scheduler::needs_engine(Operation const& operation) const noexcept {
  switch (operation.request.kind) {
    case Kind::record:
    case Kind::wait:
    case Kind::write:
      return false;
    case Kind::callback:
      return true;
    default:
      return !lost_;
  }
}

void Scheduler::make_ready(Operation& operation, Turn& turn) {
  if (operation.request.delivery == Delivery::late && removals_ == 0) {
    late_.push(operation);
    ++late_count_;
    return;
  }
  Engine const engine = engine_of(operation);
  ready_[index_of(engine)].push(operation);
  bool const kernel = operation.request.kind == Kind::kernel;
  if (kernel) note_urgency();
  turn.wake(engine, kernel ? operation.request.blocks : 1);
}

void Scheduler::pass(Operation& operation, Turn& turn) {
  // A list and no recursion: a long chain of records, or of anything after a fault, passes in one go.
  OperationQueue passing;
  passing.push(operation);
  while (Operation* const done = passing.pop()) {
    StreamState& stream = *done->stream;
    if (stream.last == done) stream.last = nullptr;
    if (done->started) {
      stream.running = stream.calling = false;
      --running_;
      if (is_copy(*done)) --copying_;
    }
    ++stream.passed;
    stream.moved.notify_all();
    if (EventState* const event = done->request.event; event != nullptr) {
      event->pending = nullptr;
      if (event->timing) event->passed_at = Clock::now();
      event->passed.notify_all();
    }
    if (done->request.word != nullptr && !lost_) {
      // Release: a thread that reads the number sees what the operations before it wrote.
      std::atomic_ref<std::uint64_t>(*done->request.word).store(done->request.number, std::memory_order_release);
    }
    for (Operation* const dependent : done->dependents) {
      if (--dependent->unmet != 0) continue;
      needs_engine(*dependent) ? make_ready(*dependent, turn) : passing.push(*dependent);
    }
    done->dependents.clear();
    turn.bury(*done);
    if (--unfinished_ == 0) quiet_.notify_all();
  }
  if (lost_) wake_hosts();
}

}  // namespace penstock::cpu
