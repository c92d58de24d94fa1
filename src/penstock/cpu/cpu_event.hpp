// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>

#include "penstock/cpu/faults.hpp"
#include "penstock/cpu/scheduler.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// An event of a CPU device. Waiting threads always sleep.
class CpuEvent final : public EventBackend {
 public:
  CpuEvent(Scheduler& scheduler, Faults& faults, EventOptions options, double clock_drift)
      : scheduler_(scheduler), faults_(faults), clock_drift_(clock_drift), state_(options.timing) {
    scheduler_.expect_healthy();
    scheduler_.add(state_);
  }
  CpuEvent(CpuEvent const&) = delete;
  CpuEvent& operator=(CpuEvent const&) = delete;
  ~CpuEvent() override { scheduler_.remove(state_); }

  bool passed() override {
    faults_.refuse(Fault::refuse_query, "a question");
    return scheduler_.passed(state_);
  }
  void wait() override {
    faults_.refuse(Fault::false_wakeup, "to wait to the end");
    if (faults_.strikes(Fault::early_wakeup)) return;
    bool const late = faults_.strikes(Fault::late_wakeup);
    scheduler_.synchronize(state_);
    if (late) scheduler_.await_late_delivery();
  }
  std::optional<std::chrono::nanoseconds> since(EventBackend& earlier) override {
    auto time = scheduler_.between(of(earlier, scheduler_), state_);
    if (time && clock_drift_ != 0) {
      *time += std::chrono::nanoseconds(std::llround(static_cast<double>(time->count()) * clock_drift_));
    }
    return time;
  }
  void* native() const noexcept override { return nullptr; }

  /// Throws: Error of kind bad_argument, unless `event` belongs to the device of `scheduler`.
  static EventState& of(EventBackend& event, Scheduler const& scheduler) {
    auto* const mine = dynamic_cast<CpuEvent*>(&event);
    if (mine == nullptr || &mine->scheduler_ != &scheduler) {
      throw Error(ErrorKind::bad_argument, "This event belongs to another device: make it with the stream's own.");
    }
    return mine->state_;
  }

 private:
  Scheduler& scheduler_;
  Faults& faults_;
  double const clock_drift_;
  EventState state_;
};

}  // namespace penstock::cpu
