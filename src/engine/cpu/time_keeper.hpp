// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/device.hpp"

namespace penstock::cpu {

struct Operation;
struct OperationTime;

/// A call of the driver's.
enum class DriverCall : std::uint8_t { copy, launch, record, wait, callback, query, synchronize, graph };

/// Actions that a TimeKeeper has the scheduler do with its operations.
///
/// Threads: under the scheduler's mutex.
class TimedOperations {
 public:
  /// It depends on nothing any more, and an engine may call it now.
  virtual void make_ready(Operation& callback) = 0;
  /// Ends one that was held.
  virtual void complete(Operation& held) = 0;
  /// Its work is done, and its time is over.
  virtual void pass(Operation& done) = 0;

 protected:
  TimedOperations() = default;
  ~TimedOperations() = default;
};

/// Keeps the time of a CPU device that stands for another one: an operation then passes once its work is done and its
/// time there is over. A device without one keeps the system's time: what is done has passed.
class TimeKeeper {
 public:
  using Time = Clock::time_point;

  TimeKeeper() = default;
  TimeKeeper(TimeKeeper const&) = delete;
  TimeKeeper& operator=(TimeKeeper const&) = delete;
  virtual ~TimeKeeper() = default;

  /// Says of the device for which it stands what differs from the CPU device.
  ///
  /// Threads: any.
  virtual void describe(DeviceInfo& info) const = 0;
  /// True if that memory of the host's, which may have been placed on a node, is far from the device.
  ///
  /// Threads: any.
  virtual bool is_far(std::byte const* host, std::optional<int> placed) const noexcept = 0;

  /// A thread makes a call of the driver's, which takes as long as it takes there.
  ///
  /// Threads: any.
  /// Blocks:  until then.
  virtual void begin_call() noexcept = 0;
  virtual void end_call(DriverCall call) noexcept = 0;

  /// The time that events tell for one that passed at `passed`.
  ///
  /// Threads: any, as for the next two.
  virtual Time told(Time passed) const noexcept = 0;
  /// True if a host that looks now finds what passed then; and a wait until it does.
  virtual bool noticed(Time passed) const noexcept = 0;
  virtual void await_notice(Time passed) const noexcept = 0;

  // These are for the operations. Threads: under the scheduler's mutex.

  /// Makes the state that it is to keep of an operation, which is used again and again.
  virtual std::unique_ptr<OperationTime> make_time() const = 0;
  /// Computes all that happens up to `now`, and has `operations` do what follows from it. Returns when the next thing
  /// happens, if nothing is put in before; the end of time if nothing will.
  virtual Time advance(Time now, TimedOperations& operations) = 0;
  /// An operation was put in at `now`.
  ///
  /// Shape: `advance(now)` came before.
  virtual void add(Operation& operation, Time now) noexcept = 0;
  /// The wait of the operation for another device is over.
  virtual void release(Operation& operation, Time now) noexcept = 0;
  /// True if the time has come to call it.
  virtual bool may_call(Operation const& callback) const noexcept = 0;
  /// True if what is behind an operation whose work is done waits for its end, too; `advance` completes it then.
  virtual bool holds(Operation& worked) noexcept = 0;
  /// The work of an operation is done. True if its time is over, so that it passes now; else `advance` passes it.
  virtual bool done(Operation& operation) noexcept = 0;
  virtual Time end_of(Operation const& operation) const noexcept = 0;
  /// The device is lost: what is done passes, and callbacks are called, without regard to time.
  virtual void drop(std::vector<std::unique_ptr<Operation>> const& all, TimedOperations& operations) = 0;
  /// Sentences for the user on the time since the last call, such as that the machine was too slow for it.
  virtual std::vector<std::string> remarks(std::string const& device) = 0;
};

/// Makes the keeper of one device; without a function the device keeps the system's time.
using TimeKeeperMaker = std::function<std::unique_ptr<TimeKeeper>()>;

/// A call of the driver's: from its making to its end.
class TimedCall {
 public:
  TimedCall(TimeKeeper* keeper, DriverCall call) noexcept : keeper_(keeper), call_(call) {
    if (keeper_ != nullptr) keeper_->begin_call();
  }
  TimedCall(TimedCall const&) = delete;
  TimedCall& operator=(TimedCall const&) = delete;
  ~TimedCall() {
    if (keeper_ != nullptr) keeper_->end_call(call_);
  }

 private:
  TimeKeeper* const keeper_;
  DriverCall const call_;
};

}  // namespace penstock::cpu
