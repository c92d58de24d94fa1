// SPDX-License-Identifier: Apache-2.0
// Questions and waits of hosts, and of other devices.
#include <algorithm>
#include <utility>

#include "engine/cpu/scheduler.hpp"

namespace penstock::cpu {

bool Scheduler::idle(StreamState const& stream) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  loss_.expect_none();
  catch_up(lock);
  return stream.passed == stream.submitted && time_.noticed(stream.passed_at);
}

std::uint64_t Scheduler::submitted(StreamState const& stream) const noexcept {
  std::lock_guard const lock(mutex_);
  return stream.submitted;
}

bool Scheduler::passed(StreamState const& stream, std::uint64_t count) const noexcept {
  std::lock_guard const lock(mutex_);
  return stream.passed >= count;
}

bool Scheduler::passed(EventState const& event) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  loss_.expect_none();
  catch_up(lock);
  return event.pending == nullptr && (!event.passed_at || time_.noticed(*event.passed_at));
}

std::optional<std::chrono::nanoseconds> Scheduler::between(EventState const& earlier, EventState const& later) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  loss_.expect_none();
  if (!earlier.timing || !later.timing) {
    throw Error(ErrorKind::bad_argument, "Only events made with timing know when they passed: make both so.");
  }
  catch_up(lock);
  if (!earlier.passed_at || !time_.noticed(*earlier.passed_at)) return std::nullopt;
  if (!later.passed_at || !time_.noticed(*later.passed_at)) return std::nullopt;
  return time_.told(*later.passed_at) - time_.told(*earlier.passed_at);
}

bool Scheduler::at_rest(StreamState const& stream) const noexcept {
  // A caller that is told of a fault may free what the stream was using, so no engine may use it any more. Another
  // stream may have filled it, so no copy of any stream may be under way.
  return abandoned() || (loss_ && !stream.running && copying_ == 0);
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
  Clock::time_point passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(stream.moved, [&, end = stream.submitted] { return stream.passed >= end || at_rest(stream); });
    loss_.expect_none();
    passed_at = stream.passed_at;
  }
  time_.await_notice(passed_at);
}

void Scheduler::synchronize(EventState& event) {
  std::optional<Clock::time_point> passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(event.passed, [&] { return event.pending == nullptr || at_rest(*event.pending->stream); });
    loss_.expect_none();
    passed_at = event.passed_at;
  }
  if (passed_at) time_.await_notice(*passed_at);
}

void Scheduler::synchronize() {
  Clock::time_point passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(quiet_, [&] { return unfinished_ == 0 || (loss_ && running_ == 0) || abandoned(); });
    loss_.expect_none();
    for (StreamState const* const stream : order_.streams()) passed_at = std::max(passed_at, stream->passed_at);
  }
  time_.await_notice(passed_at);
}

void Scheduler::await_the_end(StreamState& stream) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (stream.passed != stream.submitted) {
    // A callback that is late, here or in a stream that this one waits for, must not hold up the end.
    late_.begin_end();
    deliver_late(lock);
    lock.wait(stream.moved, [&] { return stream.passed == stream.submitted; });
    late_.end_end();
  }
  order_.remove(stream);
  if (computes_here(stream)) ready_.remove_computing_thread();
}

void Scheduler::wait_to_the_end() noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  late_.begin_end();  // Late callbacks and hosts must not hold up the end.
  deliver_late(lock);
  lock.wait(quiet_, [&] { return unfinished_ == 0; });
  late_.end_end();
}

void Scheduler::await_late_delivery() {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  late_.await(lock);
}

std::optional<Error> Scheduler::lost() const {
  std::lock_guard const lock(mutex_);
  return loss_.why();
}

void Scheduler::expect_healthy() const {
  if (auto const error = lost()) throw Error(*error);
}

std::unique_ptr<Onward> Scheduler::put_wait(StreamState& stream) {
  // This comes first, so that nothing can fail once the wait is in the stream.
  auto onward = std::make_unique<Onward>();
  onward->visits = visits_;
  onward->scheduler = this;
  enqueue(stream, {.kind = Request::Kind::wait, .abroad = true}, onward.get());
  return onward;
}

bool Scheduler::is_pending_elsewhere(StreamState const& stream, EventState const& event) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  return event.pending != nullptr && event.pending->stream != &stream;
}

bool Scheduler::promise(EventState const& event, std::unique_ptr<Onward>& onward) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  if (event.pending == nullptr || abandoned()) return false;
  onward->next = std::move(event.pending->onward);
  event.pending->onward = std::move(onward);
  return true;
}

void Scheduler::arrive(Operation& wait, std::uint64_t number) noexcept {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  catch_up(lock);
  if (wait.number == number && wait.request.abroad) release(wait, lock);
  catch_up(lock);
}

void Scheduler::release(Operation& wait, SchedulerLock& lock) {
  wait.request.abroad = false;
  if (time_.kept() != nullptr) time_.kept()->release(wait, Clock::now());
  if (--wait.unmet == 0) complete(wait, lock);
}

/// Ends the waits for other devices, since this one is lost.
void Scheduler::release_all(SchedulerLock& lock) {
  for (auto const& operation : order_.operations()) {
    if (operation->linked && operation->request.abroad) release(*operation, lock);
  }
}

/// Lets what waits for this device on others continue, since it is abandoned.
void Scheduler::break_promises(SchedulerLock& lock) noexcept {
  for (auto const& operation : order_.operations()) lock.tell(std::move(operation->onward));
}

}  // namespace penstock::cpu
