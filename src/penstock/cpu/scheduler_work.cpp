// SPDX-License-Identifier: Apache-2.0
// What threads take from the scheduler to work on, and give back.
#include "penstock/cpu/scheduler.hpp"

namespace penstock::cpu {

using Kind = Request::Kind;

ReadyWork::Work Scheduler::take(Engine engine, Seat& seat) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  return begun(ready_.take(engine, seat, lock));
}

ReadyWork::Work Scheduler::take_of(StreamState& stream) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  return begun(ready_.take_of(stream));
}

void Scheduler::compute_here(StreamState& stream) {
  if (timeline_) return;
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

}  // namespace penstock::cpu
