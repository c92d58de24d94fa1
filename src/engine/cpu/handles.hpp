// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/fault_hook.hpp"
#include "engine/cpu/operation.hpp"
#include "engine/cpu/scheduler.hpp"
#include "engine/cpu/shared_event.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/error.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// An event of a CPU device. Waiting threads always sleep.
class CpuEvent final : public EventBackend {
 public:
  /// `shared` is its state for several processes; null for an event of one.
  CpuEvent(Scheduler& scheduler, FaultPoints faults, EventOptions options, double clock_drift,
           std::shared_ptr<SharedEvent> shared)
      : scheduler_(scheduler),
        faults_(std::move(faults)),
        clock_drift_(clock_drift),
        state_(options.timing),
        shared_(std::move(shared)) {
    scheduler_.expect_healthy();
    scheduler_.add(state_);
  }
  CpuEvent(CpuEvent const&) = delete;
  CpuEvent& operator=(CpuEvent const&) = delete;
  ~CpuEvent() override {
    if (!scheduler_.process.is_current()) return;
    if (shared_ != nullptr) shared_->end();
    scheduler_.remove(state_);
  }

  bool passed() override {
    TimedCall const call(scheduler_.keeper(), DriverCall::query);
    faults_.refuse(Fault::refuse_query, "a question");
    bool const passed_elsewhere = !recorded_elsewhere() || shared_->passed(shared_->recorded());
    return scheduler_.passed(state_) && passed_elsewhere;
  }
  void wait() override {
    TimedCall const call(scheduler_.keeper(), DriverCall::synchronize);
    faults_.refuse(Fault::false_wakeup, "to wait to the end");
    if (faults_.strikes(Fault::early_wakeup)) return;
    bool const late = faults_.strikes(Fault::late_wakeup);
    if (recorded_elsewhere()) {
      std::uint64_t const record = shared_->recorded();
      while (!shared_->passed(record)) {
        scheduler_.expect_healthy();
        shared_->wait_a_while(record);
      }
    }
    scheduler_.synchronize(state_);
    if (late) scheduler_.await_late_delivery();
  }
  std::optional<std::chrono::nanoseconds> since(EventBackend& earlier) override {
    TimedCall const call(scheduler_.keeper(), DriverCall::query);
    auto time = scheduler_.between(of(earlier, scheduler_).state_, state_);
    if (time && clock_drift_ != 0) {
      *time += std::chrono::nanoseconds(std::llround(static_cast<double>(time->count()) * clock_drift_));
    }
    return time;
  }
  void* native() const noexcept override { return nullptr; }
  EventHandle handle() override { return shared_ != nullptr ? shared_->handle() : EventBackend::handle(); }

  /// Throws: Error of kind bad_argument, unless `event` belongs to a CPU device.
  static CpuEvent& of(EventBackend& event) {
    auto* const mine = dynamic_cast<CpuEvent*>(&event);
    if (mine != nullptr) return *mine;
    throw Error(
        ErrorKind::bad_argument,
        "A stream of a CPU device was given the event of another kind of device: wait for it in a thread of the "
        "host.");
  }
  /// Throws: Error of kind bad_argument, unless `event` belongs to the device of `scheduler`.
  static CpuEvent& of(EventBackend& event, Scheduler const& scheduler) {
    auto* const mine = dynamic_cast<CpuEvent*>(&event);
    if (mine == nullptr || &mine->scheduler_ != &scheduler) {
      throw Error(ErrorKind::bad_argument, "This event belongs to another device: make it with the stream's own.");
    }
    return *mine;
  }
  Scheduler& scheduler() const noexcept { return scheduler_; }
  EventState& state() noexcept { return state_; }
  /// Its state for several processes, or null.
  std::shared_ptr<SharedEvent> const& shared() const noexcept { return shared_; }
  /// True if its last record was one of another process.
  bool recorded_elsewhere() const noexcept {
    return shared_ != nullptr && shared_->recorded() > 0 && !shared_->recorded_here();
  }

 private:
  Scheduler& scheduler_;
  FaultPoints const faults_;
  double const clock_drift_;
  EventState state_;
  std::shared_ptr<SharedEvent> shared_;
};

/// A flag of a CPU device: a number in a cache line of its own.
class CpuFlag final : public FlagBackend {
 public:
  CpuFlag() : FlagBackend(number_) {}

 private:
  alignas(64) std::uint64_t number_ = 0;
};

/// Copies and kernels that a stream kept, in their order.
class CpuCapture final : public CaptureBackend {
 public:
  explicit CpuCapture(Scheduler const& scheduler) : scheduler_(scheduler) {}

  std::size_t operations() const noexcept override { return requests_.size(); }
  std::vector<Request> const& requests() const noexcept { return requests_; }
  void add(Request request) { requests_.push_back(std::move(request)); }
  /// Spoils the capture, because of `what`.
  ///
  /// Throws: Error, always, that says so.
  [[noreturn]] void spoil(char const* what) {
    Error const why(ErrorKind::device_refused, std::string("A stream that captures cannot do this: ") + what +
                                                   ". Enqueue nothing but copies and kernels until the capture ends.");
    if (!spoiled_) spoiled_ = why;
    throw Error(why);
  }
  /// Throws: Error, with what spoiled it first, if anything did.
  void expect_unspoiled() const {
    if (spoiled_) throw Error(*spoiled_);
  }

  /// Throws: Error of kind bad_argument, unless `capture` belongs to the device of `scheduler`.
  static CpuCapture const& of(CaptureBackend& capture, Scheduler const& scheduler) {
    auto const* const mine = dynamic_cast<CpuCapture*>(&capture);
    if (mine == nullptr || &mine->scheduler_ != &scheduler) {
      throw Error(ErrorKind::bad_argument,
                  "This was captured on another device: capture it with a stream of this one.");
    }
    return *mine;
  }

 private:
  Scheduler const& scheduler_;
  std::vector<Request> requests_;
  std::optional<Error> spoiled_;
};

}  // namespace penstock::cpu
