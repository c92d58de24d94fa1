// SPDX-License-Identifier: Apache-2.0
// What the scheduler does for a modelled GPU alone.
#include <algorithm>
#include <atomic>
#include <utility>

#include <sys/prctl.h>

#include "penstock/cpu/host_keeper.hpp"
#include "penstock/cpu/scheduler.hpp"

namespace penstock::cpu {
namespace {

/// An operation that is done so long after its end is late. A host that looks takes as long.
constexpr std::chrono::microseconds least_delay{10};

}  // namespace

/// Of a modelled GPU: what happened there up to now.
void Scheduler::catch_up(SchedulerLock& lock, Clock::time_point now) {
  if (!keeps_time()) return;
  timeline_->advance(now);
  while (Operation* const callback = timeline_->next_due()) {
    if (callback->unmet == 0) make_ready(*callback, lock);
  }
  while (Operation* const over = timeline_->next_over()) {
    if (over->done) {
      note_delay(*over);  // No thread looked between its end and now.
      pass(*over, lock);
      continue;
    }
    over->modelled.awaited = true;
    if (over->modelled.held) complete(*over, lock);
  }
  Clock::time_point const next = timeline_->next_event();
  if (next >= next_look_) return;
  next_look_ = next;
  time_changed_.notify_one();
}

void Scheduler::keep_time() {
  // Else each look comes 50 us late.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  for (;;) {
    SchedulerLock lock(mutex_, sleepers_, order_.unused());
    if (!keeps_time()) return;
    next_look_ = Clock::time_point::max();
    catch_up(lock);
    if (lock.has_to_tell()) continue;  // And looks again.
    lock.wait_until(time_changed_, Clock::real(next_look_));
  }
}

/// The device is lost: what is done passes, and callbacks are called, without regard to time.
void Scheduler::drop_timeline(SchedulerLock& lock) {
  if (!keeps_time()) return;
  keeps_time_ = false;
  time_changed_.notify_all();
  for (;;) {
    Operation* first = nullptr;
    for (auto const& operation : order_.operations()) {
      bool const waits = operation->linked && operation->unmet == 0 && !operation->started && !operation->queued &&
                         operation->request.kind == Request::Kind::callback && !operation->modelled.due;
      if (!waits && !(operation->linked && (operation->done || operation->modelled.held))) continue;
      if (first == nullptr || operation->number < first->number) first = operation.get();
    }
    if (first == nullptr) return;
    if (first->done) {
      pass(*first, lock);
    } else if (first->modelled.held) {
      complete(*first, lock);
    } else {
      first->modelled.due = true;
      make_ready(*first, lock);
    }
  }
}

bool Scheduler::noticed(Clock::time_point passed_at) const noexcept {
  return !timeline_ || Clock::now() >= passed_at + timeline_->noticed_after();
}

void Scheduler::await_notice(Clock::time_point passed_at) const noexcept {
  if (!timeline_) return;
  HostTime::forget();  // What the wait itself took is in what the call costs.
  wait_until(passed_at + timeline_->noticed_after());
}

std::chrono::nanoseconds Scheduler::cost_of_call(DeviceModel::Time cost) noexcept {
  auto const whole = [](DeviceModel::Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  std::int64_t const now = Clock::now().time_since_epoch().count();
  std::int64_t const alone = whole(model()->calls.alone);
  // Relaxed: it is a count of time, and guards nothing.
  std::int64_t free = driver_free_.load(std::memory_order_relaxed);
  while (!driver_free_.compare_exchange_weak(free, std::max(free, now) + alone, std::memory_order_relaxed)) {
  }
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, free - now) + whole(cost));
}

double Scheduler::take_late_share() {
  std::lock_guard const lock(mutex_);
  auto const late = static_cast<double>(std::exchange(timed_late_, 0));
  auto const all = static_cast<double>(std::exchange(timed_, 0));
  return all > 0 ? late / all : 0;
}

void Scheduler::note_times(Operation const& kernel) noexcept {
  auto const note = [](std::uint64_t* where, Clock::time_point when) {
    if (where == nullptr) return;
    // Relaxed: a thread that reads it has waited for the kernel.
    std::atomic_ref<std::uint64_t>(*where).store(static_cast<std::uint64_t>(when.time_since_epoch().count()),
                                                 std::memory_order_relaxed);
  };
  note(kernel.request.cost.began, kernel.modelled.begin);
  note(kernel.request.cost.ended, kernel.modelled.end);
}

/// It was over before it was done.
void Scheduler::note_delay(Operation const& operation) noexcept {
  if (!operation.modelled.held && operation.modelled.done_at - operation.modelled.end > least_delay) ++timed_late_;
}

}  // namespace penstock::cpu
