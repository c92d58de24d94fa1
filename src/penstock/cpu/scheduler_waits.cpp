// SPDX-License-Identifier: Apache-2.0
// What hosts ask the scheduler and wait for.
#include <algorithm>

#include "penstock/cpu/scheduler.hpp"

namespace penstock::cpu {

bool Scheduler::idle(StreamState const& stream) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (lost_) throw Error(*lost_);
  catch_up(lock);
  return stream.passed == stream.submitted && noticed(stream.passed_at);
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
  if (lost_) throw Error(*lost_);
  catch_up(lock);
  return event.pending == nullptr && (!event.passed_at || noticed(*event.passed_at));
}

std::optional<std::chrono::nanoseconds> Scheduler::between(EventState const& earlier, EventState const& later) {
  SchedulerLock lock(mutex_, sleepers_, order_.unused());
  if (lost_) throw Error(*lost_);
  if (!earlier.timing || !later.timing) {
    throw Error(ErrorKind::bad_argument, "Only events made with timing know when they passed: make both so.");
  }
  catch_up(lock);
  if (!earlier.passed_at || !noticed(*earlier.passed_at)) return std::nullopt;
  if (!later.passed_at || !noticed(*later.passed_at)) return std::nullopt;
  auto const told = [&](Clock::time_point passed) { return keeper_ != nullptr ? keeper_->told(passed) : passed; };
  return told(*later.passed_at) - told(*earlier.passed_at);
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
  Clock::time_point passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(stream.moved, [&, end = stream.submitted] { return stream.passed >= end || at_rest(stream); });
    if (lost_) throw Error(*lost_);
    passed_at = stream.passed_at;
  }
  await_notice(passed_at);
}

void Scheduler::synchronize(EventState& event) {
  std::optional<Clock::time_point> passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(event.passed, [&] { return event.pending == nullptr || at_rest(*event.pending->stream); });
    if (lost_) throw Error(*lost_);
    passed_at = event.passed_at;
  }
  if (passed_at) await_notice(*passed_at);
}

void Scheduler::synchronize() {
  Clock::time_point passed_at;
  {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    lock.wait(quiet_, [&] { return unfinished_ == 0 || (lost_ && running_ == 0) || abandoned(); });
    if (lost_) throw Error(*lost_);
    for (StreamState const* const stream : order_.streams()) passed_at = std::max(passed_at, stream->passed_at);
  }
  await_notice(passed_at);
}

}  // namespace penstock::cpu
