// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/scheduler.hpp"

#include <atomic>
#include <utility>

#include <sys/prctl.h>

namespace penstock::cpu {

using Kind = Request::Kind;

/// Carries out, under the mutex, what the keeper asks for.
class Scheduler::InTime final : public TimedOperations {
 public:
  InTime(Scheduler& scheduler, SchedulerLock& lock) noexcept : scheduler_(scheduler), lock_(lock) {}
  void make_ready(Operation& callback) override { scheduler_.make_ready(callback, lock_); }
  void complete(Operation& held) override { scheduler_.complete(held, lock_); }
  void pass(Operation& done) override { scheduler_.pass(done, lock_); }

 private:
  Scheduler& scheduler_;
  SchedulerLock& lock_;
};

void Scheduler::add(StreamState& stream) {
  std::lock_guard const lock(mutex_);
  order_.add(stream);
}

void Scheduler::remove(StreamState& stream) noexcept {
  await_the_end(stream);
  time_.await_notice(stream.passed_at);
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
  loss_.expect_none();
  TimeKeeper* const keeper = time_.kept();
  auto const now = keeper != nullptr ? Clock::now() : Clock::time_point();
  if (keeper != nullptr) catch_up(lock, now);  // The time there is up to date when the operation is added.
  Operation& operation = order_.put(stream, std::move(request));
  ++unfinished_;
  if (keeper != nullptr) keeper->add(operation, now);
  return operation;
}

/// Starts an operation that depends on nothing any more: an engine may have it, or it is done at once.
void Scheduler::start(Operation& operation, OperationQueue& done, SchedulerLock& lock) {
  if (!needs_engine(operation)) return done.push(operation);
  TimeKeeper const* const keeper = time_.kept();
  bool const too_early = keeper != nullptr && operation.request.kind == Kind::callback && !keeper->may_call(operation);
  if (!too_early) make_ready(operation, lock);
}

/// Completes an operation that is done, and with it all behind it that takes no work.
void Scheduler::complete(Operation& operation, SchedulerLock& lock) {
  // A list replaces recursion: a long chain of records, or of anything after a fault, is done in one go.
  OperationQueue completing;
  completing.push(operation);
  while (Operation* const done = completing.pop()) {
    if (std::exchange(done->started, false)) {
      done->stream->running = done->stream->calling = false;
      --running_;
      if (is_copy(*done)) --copying_;
    }
    TimeKeeper* const keeper = time_.kept();
    if (keeper != nullptr && keeper->holds(*done)) continue;  // `catch_up` completes it.
    done->done = true;
    for (Operation* const dependent : done->dependents) {
      if (--dependent->unmet == 0) start(*dependent, completing, lock);
    }
    if (keeper != nullptr && !keeper->done(*done)) continue;  // `catch_up` lets it pass.
    pass(*done, lock);
  }
  if (loss_) wake_hosts();
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
      return !loss_;
  }
}

void Scheduler::make_ready(Operation& operation, SchedulerLock& lock) {
  if (!late_.holds(operation)) ready_.push(operation, lock);
}

void Scheduler::pass(Operation& operation, SchedulerLock& lock) {
  StreamState& stream = *operation.stream;
  operation.linked = false;
  if (stream.last == &operation) stream.last = nullptr;
  ++stream.passed;
  stream.moved.notify_all();
  EventState* const event = operation.request.event;
  if (time_.keeper() != nullptr || (event != nullptr && event->timing)) {
    TimeKeeper const* const keeper = time_.kept();
    stream.passed_at = keeper != nullptr ? keeper->end_of(operation) : Clock::now();
    if (event != nullptr) event->passed_at = stream.passed_at;
  }
  if (event != nullptr) {
    event->pending = nullptr;
    event->passed.notify_all();
  }
  if (operation.request.word != nullptr && !loss_) {
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
  if (time_.keeper() != nullptr) return;
  std::lock_guard const lock(mutex_);
  if (!stream.computes_here.exchange(true, std::memory_order_relaxed)) ready_.add_computing_thread();
}

/// Notes that a thread works on it.
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
  operation->status = loss_.status();
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
  time_.end();
  ready_.stop(lock);
}

void Scheduler::lose(char const* what, char const* words, int code) noexcept {
  Error const why = loss_.cause(what, words);
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lose(why, code, lock);
}

void Scheduler::abandon(Error const& why) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  lose(why, abandoned_fault, lock);
  loss_.abandon();
  break_promises(lock);
  wake_hosts();
}

void Scheduler::lose(Error const& why, int code, SchedulerLock& lock) {
  if (loss_) return;
  loss_.note(why, code);
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
  late_.deliver([&](Operation& callback) { make_ready(callback, lock); });
}

/// Takes over what happened up to `now`, for a device that keeps time.
void Scheduler::catch_up(SchedulerLock& lock, Clock::time_point now) {
  InTime operations(*this, lock);
  time_.advance(now, operations);
}

void Scheduler::keep_time() {
  // Each look would come 50 us late otherwise.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  for (;;) {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    if (time_.kept() == nullptr) return;
    time_.begin_look();
    catch_up(lock);
    if (lock.has_to_tell()) continue;  // It looks again.
    time_.await_next(lock);
  }
}

/// Ends the time of a device that is lost: from here on nothing waits for it.
void Scheduler::drop_time(SchedulerLock& lock) {
  TimeKeeper* const keeper = time_.end();
  if (keeper == nullptr) return;
  InTime operations(*this, lock);
  keeper->drop(order_.operations(), operations);
}

std::vector<std::string> Scheduler::remarks(std::string const& device) {
  if (time_.keeper() == nullptr) return {};
  std::lock_guard const lock(mutex_);
  return time_.keeper()->remarks(device);
}

}  // namespace penstock::cpu
