// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engine/cpu/operation.hpp"
#include "models/cost_on_model.hpp"
#include "models/device_model.hpp"
#include "models/modelled.hpp"
#include "penstock/clock.hpp"

namespace penstock::cpu {

/// Computes when each operation begins and ends on the modelled device.
///
/// An operation begins when all that it depends on is over and there is room for it. Copies have engines in which they
/// stand in line; those that go both ways at once slow each other down. Copies from device to device have an engine of
/// their own, unless there is one for all. Kernels that work on the host's memory share
/// the link with each other and with copies. Where kernels and copies want more of the device's memory than its rate,
/// each gets the same part; a model may have copies keep less beside kernels. Kernels run at once as far as their
/// blocks find room; the others stand in line, the more urgent first. A kernel that is more urgent than one that runs
/// gets its room as soon as a wave of blocks is over. Records, waits and writes take no time. A callback begins when it
/// is called, and its end is told by `called`.
///
/// The timeline knows nothing of the threads that do the work: it says when work is over, and the scheduler lets it
/// pass when it is also done.
///
/// Threads: under the scheduler's mutex.
/// Units:   times of Clock.
class Timeline {
 public:
  using Time = Clock::time_point;

  explicit Timeline(DeviceModel const& model) : model_(model) {}
  Timeline(Timeline const&) = delete;
  Timeline& operator=(Timeline const&) = delete;

  DeviceModel const& model() const noexcept { return model_; }
  /// Time from the end of an operation until a host that looks for it finds it over.
  std::chrono::nanoseconds noticed_after() const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(model_.completions.noticed);
  }
  /// The time that events tell for one that passed at `passed`.
  Time told(Time passed) const noexcept {
    auto const step = std::chrono::duration_cast<std::chrono::nanoseconds>(model_.completions.event_resolution);
    return step.count() > 0 ? passed - passed.time_since_epoch() % step : passed;
  }
  /// Computes all that happens up to `now`. Follow with `next_over` and `next_due`.
  void advance(Time now) noexcept;
  /// Adds an operation that the host put in at `now`.
  ///
  /// Shape: `advance(now)` came before.
  void add(Operation& operation, Time now) noexcept;
  /// The wait of the operation for another device is over.
  void release(Operation& operation, Time now) noexcept;
  /// The callback, which was due, has returned.
  void called(Operation& callback, Time now) noexcept;
  /// The next operation that is over and was not asked for yet, in the order of the ends; or null.
  Operation* next_over() noexcept { return over_.pop(); }
  /// A callback that may now be called; or null.
  Operation* next_due() noexcept { return due_.pop(); }
  /// The time at which the next thing happens, if nothing is put in before; the end of time if nothing will.
  Time next_event() const noexcept;

 private:
  using Line = OperationLine;
  /// The place where copies wait. At most one of each engine is active.
  struct CopyEngine {
    Line waiting;
    bool busy = false;
  };

  CopyEngine& engine_of(Operation const& operation) noexcept;
  void begin(Operation& operation, Time at) noexcept;
  void begin_work(Operation& operation, Time at) noexcept;
  void begin_copies(CopyEngine& engine, Time at) noexcept;
  void begin_kernels(Time at) noexcept;
  void end_wave(Operation& kernel, Time at) noexcept;
  void note_issue(Operation& operation) noexcept;
  void end_kernel(Operation& kernel, Time at) noexcept;
  Line& kernels_like(Operation const& kernel) noexcept;
  void activate(Operation& operation, Time at) noexcept;
  void deactivate(Operation& operation) noexcept;
  void end(Operation& operation, Time at) noexcept;
  Operation* first_to_end() const noexcept;

  DeviceModel const model_;
  CostOnModel const cost_{model_};
  Time now_{};
  Operation* active_ = nullptr;        ///< Operations that take time now, linked by Modelled::next.
  std::array<CopyEngine, 3> engines_;  ///< Engines for up, down, and from device to device.
  std::array<Line, static_cast<std::size_t>(least_priority - greatest_priority + 1)> kernels_;  ///< Kernels that wait.
  double free_share_ = 1;                                                                       ///< Part that is free.
  unsigned kernels_active_ = 0;
  Operation* last_issued_ = nullptr;  ///< Null, if it is over.
  Line handed_over_;  ///< Copies behind kernels and kernels behind copies, by the time at which they may begin.
  Line calls_;        ///< Callbacks that will be due, by the time.
  Line over_;
  Line due_;
};

}  // namespace penstock::cpu
