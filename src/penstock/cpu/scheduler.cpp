// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/scheduler.hpp"

#include <atomic>
#include <new>
#include <string>
#include <utility>

namespace penstock::cpu {

using Kind = Request::Kind;

void Scheduler::add(StreamState& stream) {
  std::lock_guard const lock(mutex_);
  order_.add(stream);
}

void Scheduler::remove(StreamState& stream) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (stream.passed != stream.submitted) {
    // A callback that is late, here or in a stream that this one waits for, must not hold up the end.
    ++removals_;
    deliver_late(lock);
    lock.wait(stream.moved, [&] { return stream.passed == stream.submitted; });
    --removals_;
  }
  order_.remove(stream);
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
  return order_.streams().size();
}
std::size_t Scheduler::events() const {
  std::lock_guard const lock(mutex_);
  return events_.size();
}

void Scheduler::begin_capture() {
  expect_healthy();
  captures_.fetch_add(1, std::memory_order_relaxed);
}

void Scheduler::enqueue(StreamState& stream, Request request) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (lost_) throw Error(*lost_);
  Operation& operation = order_.put(stream, std::move(request));
  ++unfinished_;
  if (operation.unmet != 0) return;
  needs_engine(operation) ? make_ready(operation, lock) : pass(operation, lock);
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

void Scheduler::make_ready(Operation& operation, SchedulerLock& lock) {
  if (operation.request.delivery == Delivery::late && removals_ == 0) {
    late_.push(operation);
    ++late_count_;
    return;
  }
  ready_.push(operation, lock);
}

void Scheduler::pass(Operation& operation, SchedulerLock& lock) {
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
      needs_engine(*dependent) ? make_ready(*dependent, lock) : passing.push(*dependent);
    }
    done->dependents.clear();
    lock.bury(*done);
    if (--unfinished_ == 0) quiet_.notify_all();
  }
  if (lost_) wake_hosts();
}

ReadyWork::Work Scheduler::take(Engine engine, Seat& seat) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  auto const work = ready_.take(engine, seat, lock);
  Operation* const operation = work.operation;
  if (operation == nullptr) return {};
  if (!operation->started) {
    operation->started = true;
    operation->start = Clock::now();
    operation->stream->running = true;
    operation->stream->calling = operation->request.kind == Kind::callback;
    ++running_;
    if (is_copy(*operation)) ++copying_;
  }
  operation->status = {.ok = !lost_, .sticky = lost_.has_value(), .code = lost_ ? lost_code_ : 0};
  return work;
}

bool Scheduler::leave(Operation& kernel) {
  std::lock_guard const lock(mutex_);
  return ready_.leave(kernel);
}

void Scheduler::stop() {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  ready_.stop(lock);
}

void Scheduler::finish(Operation& operation) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  pass(operation, lock);
}

void Scheduler::lose(char const* what, char const* words, int code) noexcept {
  Error why = lost_speechless_;
  try {
    std::string cause = what;
    if (words != nullptr) cause += std::string(" \"") + words + '"';
    why = Error(ErrorKind::device_lost, "The CPU device is lost: " + cause + ". End this run and make a new device.");
  } catch (std::bad_alloc const&) {  // Then it does not say why.
  }
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lose(why, code, lock);
}

void Scheduler::abandon(Error const& why) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lose(why, abandoned_fault, lock);
  abandoned_.store(true, std::memory_order_release);
  wake_hosts();
}

void Scheduler::wait_to_the_end() noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  ++removals_;  // What is late must not hold up the end.
  deliver_late(lock);
  lock.wait(quiet_, [&] { return unfinished_ == 0; });
  --removals_;
}

void Scheduler::lose(Error const& why, int code, SchedulerLock& lock) {
  if (lost_) return;
  lost_ = why;
  lost_code_ = code;
  OperationQueue callbacks;
  OperationQueue discarded;
  ready_.clear(callbacks, discarded);
  while (Operation* const operation = callbacks.pop()) make_ready(*operation, lock);
  while (Operation* const operation = discarded.pop()) pass(*operation, lock);
  // Hosts are woken when the operation at fault passes, which comes next.
}

void Scheduler::wake_hosts() noexcept {
  for (StreamState* const stream : order_.streams()) stream->moved.notify_all();
  for (EventState* const event : events_) event->passed.notify_all();
  quiet_.notify_all();
}

std::size_t Scheduler::late() const {
  std::lock_guard const lock(mutex_);
  return late_count_;
}

void Scheduler::deliver_late() {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  deliver_late(lock);
}

void Scheduler::deliver_late(SchedulerLock& lock) {
  while (Operation* const operation = late_.pop()) {
    // One that was dropped meanwhile stays so.
    if (operation->request.delivery == Delivery::late) operation->request.delivery = Delivery::once;
    make_ready(*operation, lock);
  }
  late_count_ = 0;
  ++deliveries_;
  delivered_.notify_all();
}

void Scheduler::await_late_delivery() {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  ++late_count_;
  lock.wait(delivered_, [&, before = deliveries_] { return deliveries_ != before; });
}

bool Scheduler::idle(StreamState const& stream) const {
  std::lock_guard const lock(mutex_);
  if (lost_) throw Error(*lost_);
  return stream.passed == stream.submitted;
}

bool Scheduler::passed(EventState const& event) const {
  std::lock_guard const lock(mutex_);
  if (lost_) throw Error(*lost_);
  return event.pending == nullptr;
}

std::optional<std::chrono::nanoseconds> Scheduler::between(EventState const& earlier, EventState const& later) const {
  std::lock_guard const lock(mutex_);
  if (lost_) throw Error(*lost_);
  if (!earlier.timing || !later.timing) {
    throw Error(ErrorKind::bad_argument, "Only events made with timing know when they passed: make both so.");
  }
  if (!earlier.passed_at || !later.passed_at) return std::nullopt;
  return *later.passed_at - *earlier.passed_at;
}

bool Scheduler::at_rest(StreamState const& stream) const noexcept {
  // A caller that is told of a fault may free what the stream was using, so no engine may use it any more. Another
  // stream may have filled it, so no copy of any stream may be under way.
  return abandoned() || (lost_ && !stream.running && copying_ == 0);
}

void Scheduler::drop_calls(StreamState& stream) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  for (auto const& operation : order_.operations()) {
    // Operations that are over make no calls either, so the loop need not tell them apart.
    if (operation->stream == &stream && !operation->started) operation->request.delivery = Delivery::never;
  }
  lock.wait(stream.moved, [&] { return !stream.calling; });
}

void Scheduler::synchronize(StreamState& stream) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lock.wait(stream.moved, [&, end = stream.submitted] { return stream.passed >= end || at_rest(stream); });
  if (lost_) throw Error(*lost_);
}

void Scheduler::synchronize(EventState& event) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lock.wait(event.passed, [&] { return event.pending == nullptr || at_rest(*event.pending->stream); });
  if (lost_) throw Error(*lost_);
}

void Scheduler::synchronize() {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lock.wait(quiet_, [&] { return unfinished_ == 0 || (lost_ && running_ == 0) || abandoned(); });
  if (lost_) throw Error(*lost_);
}

std::optional<Error> Scheduler::lost() const {
  std::lock_guard const lock(mutex_);
  return lost_;
}

void Scheduler::expect_healthy() const {
  if (auto const error = lost()) throw Error(*error);
}

}  // namespace penstock::cpu
