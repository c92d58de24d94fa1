// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/core/own_process.hpp"
#include "engine/cpu/device_loss.hpp"
#include "engine/cpu/device_time.hpp"
#include "engine/cpu/late_delivery.hpp"
#include "engine/cpu/operation.hpp"
#include "engine/cpu/ready_work.hpp"
#include "engine/cpu/stream_order.hpp"
#include "engine/cpu/time_keeper.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

/// Takes operations from streams, lets the engines have those that are ready, and tells hosts what has passed.
///
/// StreamOrder knows the dependencies; ReadyWork has what depends on nothing any more; DeviceTime says whose time it
/// keeps, DeviceLoss why it is lost, LateDelivery what is held as late. One mutex guards them and all that is here; no
/// copy, kernel or callback runs under it.
///
/// After a fault operations still pass in the same order, but copies and kernels do nothing and callbacks are told.
///
/// Threads: any.
class Scheduler {
 public:
  /// Operations that are done also wait for their end by the keeper's time. Null: it keeps the system's time.
  explicit Scheduler(std::unique_ptr<TimeKeeper> keeper = nullptr) : time_(std::move(keeper)) {}
  Scheduler(Scheduler const&) = delete;
  Scheduler& operator=(Scheduler const&) = delete;

  /// Streams, events and memory of the device are left as they are in a child of fork.
  OwnProcess const process;

  void add(StreamState& stream);
  /// Blocks: until the stream has passed all that was put in; callbacks that are late are delivered for it.
  void remove(StreamState& stream) noexcept;
  void add(EventState& event);
  void remove(EventState& event) noexcept;
  std::size_t streams() const {
    std::lock_guard const lock(mutex_);
    return order_.streams().size();
  }
  std::size_t events() const {
    std::lock_guard const lock(mutex_);
    return events_.size();
  }

  /// Counts a capture of a stream, whose operations do not come here until the capture ends.
  ///
  /// Throws: Error, if the device is lost.
  void begin_capture();
  void end_capture() noexcept { captures_.fetch_sub(1, std::memory_order_relaxed); }
  std::size_t captures() const noexcept { return captures_.load(std::memory_order_relaxed); }

  /// Puts an operation into the stream.
  ///
  /// Throws: Error, if the device is lost, or std::bad_alloc; nothing was put into the stream then.
  /// `onward`, if not null, is told which operation it is.
  void enqueue(StreamState& stream, Request request, Onward* onward = nullptr);
  /// Puts a kernel into the stream, and gives the calling thread a block of it to work on, if it may begin; else there
  /// is none.
  ///
  /// Throws: as enqueue.
  ReadyWork::Work enqueue_and_take(StreamState& stream, Request kernel);
  /// Puts a wait into the stream that ends when what is returned is told (waits_abroad.hpp), or this device is lost.
  ///
  /// Throws: as enqueue.
  std::unique_ptr<Onward> put_wait(StreamState& stream);
  /// Takes `onward`, to be told when the event's last record so far has passed. False if that is so by now, or no
  /// thread waits for this device any more.
  bool promise(EventState const& event, std::unique_ptr<Onward>& onward);
  /// True if the event's last record is in another stream, and was not passed.
  bool is_pending_elsewhere(StreamState const& stream, EventState const& event);
  /// Tells a wait that what it waited for on another device has passed. Does nothing if the wait has ended.
  void arrive(Operation& wait, std::uint64_t number) noexcept;

  /// Keeps the callbacks in the stream from being called.
  ///
  /// Blocks: until one that is being called has returned.
  void drop_calls(StreamState& stream) noexcept;

  /// Questions and waits of host threads, as the device's contracts say.
  ///
  /// Throws: Error, if the device is lost; a call that waits first lets the running operation return.
  bool idle(StreamState const& stream);
  /// Number of operations that were put into the stream so far, and whether it has passed the first `count` of them.
  std::uint64_t submitted(StreamState const& stream) const noexcept;
  bool passed(StreamState const& stream, std::uint64_t count) const noexcept;
  bool passed(EventState const& event);
  std::optional<std::chrono::nanoseconds> between(EventState const& earlier, EventState const& later);
  void synchronize(StreamState& stream);
  void synchronize(EventState& event);
  void synchronize();

  std::optional<Error> lost() const;
  /// Throws: Error, if the device is lost.
  void expect_healthy() const;

  /// Callbacks and hosts that are being held because they are late.
  std::size_t late() const {
    std::lock_guard const lock(mutex_);
    return late_.count();
  }
  /// Lets go of them.
  void deliver_late();
  /// Holds a host that is to be late.
  ///
  /// Blocks: until the late callbacks and hosts are let go.
  void await_late_delivery();

  /// Blocks: until there is work, or `stop` was called: then there is no work.
  ReadyWork::Work take(Engine engine, Seat& seat);
  /// Threads that launch kernels in the stream run the blocks, but not with a TimeKeeper, where a kernel takes time.
  void compute_here(StreamState& stream);
  static bool computes_here(StreamState const& stream) noexcept {
    return stream.computes_here.load(std::memory_order_relaxed);
  }
  /// Calls ReadyWork::claim.
  bool claim(Operation& kernel, std::uint64_t& block) const noexcept { return ready_.claim(kernel, block); }
  /// The calling thread is done with the kernel's blocks. True for the last to leave: it must call `finish`.
  bool leave(Operation& kernel);
  /// An operation is over: what depended on it may start.
  void finish(Operation& operation);
  /// The device is lost, since `what` said `words`, if any. The first cause counts; `code` is what callbacks are told.
  void lose(char const* what, char const* words, int code) noexcept;
  /// The device is lost for `why`, unless it is lost already, and no thread waits for it any more.
  void abandon(Error const& why);
  bool abandoned() const noexcept { return loss_.abandoned(); }
  /// Waits for the running work of an abandoned device, and for all that was put into its streams.
  ///
  /// Blocks: until then.
  void wait_to_the_end() noexcept;
  /// Blocks: until threads of other devices have come back from here.
  void stop();

  /// The keeper of the time; null for the system's.
  TimeKeeper* keeper() const noexcept { return time_.keeper(); }
  /// Lets operations pass when their time is over. It needs a thread of its own.
  ///
  /// Blocks: until `stop` was called.
  void keep_time();
  /// Returns TimeKeeper::remarks.
  std::vector<std::string> remarks(std::string const& device);

 private:
  class InTime;
  Operation& put(StreamState& stream, Request request, SchedulerLock& lock);
  ReadyWork::Work begun(ReadyWork::Work work);
  void start(Operation& operation, OperationQueue& done, SchedulerLock& lock);
  void complete(Operation& operation, SchedulerLock& lock);
  void make_ready(Operation& operation, SchedulerLock& lock);
  void pass(Operation& operation, SchedulerLock& lock);
  void await_the_end(StreamState& stream) noexcept;
  void catch_up(SchedulerLock& lock) {
    if (time_.kept() != nullptr) catch_up(lock, Clock::now());
  }
  void catch_up(SchedulerLock& lock, Clock::time_point now);
  void drop_time(SchedulerLock& lock);
  void release(Operation& wait, SchedulerLock& lock);
  void release_all(SchedulerLock& lock);
  void break_promises(SchedulerLock& lock) noexcept;
  void lose(Error const& why, int code, SchedulerLock& lock);
  void deliver_late(SchedulerLock& lock);
  bool at_rest(StreamState const& stream) const noexcept;
  bool needs_engine(Operation const& operation) const noexcept;
  void wake_hosts() noexcept;

  mutable std::mutex mutex_;
  DeviceTime time_;
  StreamOrder order_{time_.keeper()};
  std::unordered_set<EventState*> events_;
  std::size_t unfinished_ = 0;  ///< Operations that have not passed.
  std::size_t running_ = 0;     ///< Operations that engines work on.
  std::size_t copying_ = 0;     ///< Copies among them.
  std::condition_variable quiet_;

  ReadyWork ready_;
  Sleepers sleepers_{};
  LateDelivery late_;
  std::atomic<std::size_t> captures_{0};  ///< Captures that were begun and not ended.
  DeviceLoss loss_;
  /// Threads pass it to come here from schedulers of other devices, until `stop`.
  std::shared_ptr<Rundown> const visits_ = std::make_shared<Rundown>(true);
};

}  // namespace penstock::cpu
