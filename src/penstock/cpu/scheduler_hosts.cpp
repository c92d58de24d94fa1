// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/scheduler.hpp"

namespace penstock::cpu {

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
  // stream may have filled it, so no copy may be under way at all.
  return abandoned() || (lost_ && !stream.running && copying_ == 0);
}

void Scheduler::drop_calls(StreamState& stream) noexcept {
  Turn turn(mutex_, sleepers_, unused_);
  for (auto const& operation : operations_) {
    // Operations that are over make no calls either, so the loop need not tell them apart.
    if (operation->stream == &stream && !operation->started) operation->request.delivery = Delivery::never;
  }
  turn.wait(stream.moved, [&] { return !stream.calling; });
}

void Scheduler::synchronize(StreamState& stream) {
  Turn turn(mutex_, sleepers_, unused_);
  turn.wait(stream.moved, [&, end = stream.submitted] { return stream.passed >= end || at_rest(stream); });
  if (lost_) throw Error(*lost_);
}

void Scheduler::synchronize(EventState& event) {
  Turn turn(mutex_, sleepers_, unused_);
  turn.wait(event.passed, [&] { return event.pending == nullptr || at_rest(*event.pending->stream); });
  if (lost_) throw Error(*lost_);
}

void Scheduler::synchronize() {
  Turn turn(mutex_, sleepers_, unused_);
  turn.wait(quiet_, [&] { return unfinished_ == 0 || (lost_ && running_ == 0) || abandoned(); });
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
