// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/scheduler.hpp"

#include <algorithm>
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
  await_the_end(stream);
  await_notice(stream.passed_at);
}

void Scheduler::await_the_end(StreamState& stream) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (stream.passed != stream.submitted) {
    // A callback that is late, here or in a stream that this one waits for, must not hold up the end.
    ++removals_;
    deliver_late(lock);
    lock.wait(stream.moved, [&] { return stream.passed == stream.submitted; });
    --removals_;
  }
  order_.remove(stream);
  if (computes_here(stream)) ready_.remove_computing_thread();
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

void Scheduler::begin_capture() {
  expect_healthy();
  captures_.fetch_add(1, std::memory_order_relaxed);
}

void Scheduler::enqueue(StreamState& stream, Request request, Onward* onward) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  Operation& operation = put(stream, std::move(request), lock);
  if (onward != nullptr) {
    onward->wait = &operation;
    onward->number = operation.number;
  }
  if (operation.unmet == 0) {
    OperationQueue done;
    start(operation, done, lock);
    if (done.pop() != nullptr) complete(operation, lock);
  }
  catch_up(lock);
}

ReadyWork::Work Scheduler::enqueue_and_take(StreamState& stream, Request kernel) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  Operation& operation = put(stream, std::move(kernel), lock);
  return operation.unmet == 0 ? begun(ready_.push_and_claim(operation, lock)) : ReadyWork::Work{};
}

Operation& Scheduler::put(StreamState& stream, Request request, SchedulerLock& lock) {
  if (lost_) throw Error(*lost_);
  if (!keeps_time()) {
    Operation& operation = order_.put(stream, std::move(request));
    ++unfinished_;
    return operation;
  }
  auto const now = Clock::now();
  catch_up(lock, now);  // What goes on there has come as far when the operation is added.
  Operation& operation = order_.put(stream, std::move(request));
  ++unfinished_;
  keeper_->add(operation, now);
  return operation;
}

/// It depends on nothing any more: an engine may have it, or it is done at once.
void Scheduler::start(Operation& operation, OperationQueue& done, SchedulerLock& lock) {
  if (!needs_engine(operation)) return done.push(operation);
  bool const too_early = keeps_time() && operation.request.kind == Kind::callback && !keeper_->may_call(operation);
  if (!too_early) make_ready(operation, lock);
}

/// It is done, and with it all behind it that takes no work.
void Scheduler::complete(Operation& operation, SchedulerLock& lock) {
  // A list and no recursion: a long chain of records, or of anything after a fault, is done in one go.
  OperationQueue completing;
  completing.push(operation);
  while (Operation* const done = completing.pop()) {
    if (std::exchange(done->started, false)) {
      done->stream->running = done->stream->calling = false;
      --running_;
      if (is_copy(*done)) --copying_;
    }
    if (keeps_time() && keeper_->holds(*done)) continue;  // `catch_up` completes it.
    done->done = true;
    for (Operation* const dependent : done->dependents) {
      if (--dependent->unmet == 0) start(*dependent, completing, lock);
    }
    if (keeps_time() && !keeper_->done(*done)) continue;  // `catch_up` lets it pass.
    pass(*done, lock);
  }
  if (lost_) wake_hosts();
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
  StreamState& stream = *operation.stream;
  Clock::time_point const now = keeps_time() ? keeper_->end_of(operation) : Clock::now();
  operation.linked = false;
  if (stream.last == &operation) stream.last = nullptr;
  ++stream.passed;
  stream.passed_at = now;
  stream.moved.notify_all();
  if (EventState* const event = operation.request.event; event != nullptr) {
    event->pending = nullptr;
    if (event->timing || keeper_ != nullptr) event->passed_at = now;
    event->passed.notify_all();
  }
  if (operation.request.word != nullptr && !lost_) {
    // Release: a thread that reads the number sees what the operations before it wrote.
    std::atomic_ref<std::uint64_t>(*operation.request.word).store(operation.request.number, std::memory_order_release);
  }
  operation.dependents.clear();
  lock.tell(std::move(operation.onward));
  lock.bury(operation);
  if (--unfinished_ == 0) quiet_.notify_all();
}

ReadyWork::Work Scheduler::take(Engine engine, Seat& seat) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  return begun(ready_.take(engine, seat, lock));
}

void Scheduler::compute_here(StreamState& stream) {
  if (keeper_ != nullptr) return;
  std::lock_guard const lock(mutex_);
  if (!stream.computes_here.exchange(true, std::memory_order_relaxed)) ready_.add_computing_thread();
}

/// Notes that a thread is at it.
ReadyWork::Work Scheduler::begun(ReadyWork::Work work) {
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

void Scheduler::finish(Operation& operation) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  complete(operation, lock);
  catch_up(lock);
}

void Scheduler::stop() {
  visits_->close();
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  keeps_time_ = false;
  time_changed_.notify_all();
  ready_.stop(lock);
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
  break_promises(lock);
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
  drop_time(lock);
  while (Operation* const operation = discarded.pop()) complete(*operation, lock);
  release_all(lock);
  // Hosts are woken when the operation at fault passes, which comes next.
}

void Scheduler::wake_hosts() noexcept {
  for (StreamState* const stream : order_.streams()) stream->moved.notify_all();
  for (EventState* const event : events_) event->passed.notify_all();
  quiet_.notify_all();
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

std::optional<Error> Scheduler::lost() const {
  std::lock_guard const lock(mutex_);
  return lost_;
}

void Scheduler::expect_healthy() const {
  if (auto const error = lost()) throw Error(*error);
}

}  // namespace penstock::cpu
