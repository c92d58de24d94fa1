// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "penstock/cpu/operation.hpp"
#include "penstock/cpu/turn.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

/// Knows what each stream was asked for, what depends on what, and what the engines may start: CUDA's stream rules.
///
/// An operation depends on the one before it in its stream; one in the legacy stream also on the youngest of every
/// blocking stream, one in a blocking stream also on the youngest of the legacy stream; a wait also on the record that
/// it names. What depends on nothing any more is ready. One mutex guards it all; no copy, kernel or callback runs under
/// it.
///
/// After a fault operations still pass in the same order, but copies and kernels do nothing and callbacks are told.
///
/// Threads: any.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(Scheduler const&) = delete;
  Scheduler& operator=(Scheduler const&) = delete;

  void add(StreamState& stream);
  /// Blocks: until the stream has passed all that was put in; callbacks that are late are delivered for it.
  void remove(StreamState& stream) noexcept;
  void add(EventState& event);
  void remove(EventState& event) noexcept;
  std::size_t streams() const;
  std::size_t events() const;

  /// Of a stream. Its operations do not come here until the capture ends.
  ///
  /// Throws: Error, if the device is lost.
  void begin_capture();
  void end_capture() noexcept { captures_.fetch_sub(1, std::memory_order_relaxed); }
  std::size_t captures() const noexcept { return captures_.load(std::memory_order_relaxed); }

  /// Puts an operation into the stream.
  ///
  /// Throws: Error, if the device is lost, or std::bad_alloc; nothing was put into the stream then.
  void enqueue(StreamState& stream, Request request);

  /// Keeps the callbacks in the stream from being called.
  ///
  /// Blocks: until one that is being called has returned.
  void drop_calls(StreamState& stream) noexcept;

  /// What host threads ask and wait for, as the device's contracts say.
  ///
  /// Throws: Error, if the device is lost; a call that waits first lets the running operation return.
  bool idle(StreamState const& stream) const;
  bool passed(EventState const& event) const;
  std::optional<std::chrono::nanoseconds> between(EventState const& earlier, EventState const& later) const;
  void synchronize(StreamState& stream);
  void synchronize(EventState& event);
  void synchronize();

  std::optional<Error> lost() const;
  /// Throws: Error, if the device is lost.
  void expect_healthy() const;

  /// Callbacks and hosts that are being held because they are late.
  std::size_t late() const;
  /// Lets go of them.
  void deliver_late();
  /// Holds a host that is to be late.
  ///
  /// Blocks: until the late callbacks and hosts are let go.
  void await_late_delivery();

  /// An operation for an engine's thread to work on; for a kernel also the first block that is now its own.
  struct Work {
    Operation* operation = nullptr;
    std::uint64_t block = 0;
  };
  /// Blocks: until there is work, or `stop` was called: then there is no work.
  Work take(Engine engine, Seat& seat);
  /// Claims a further block of a kernel, unless none is left or something more urgent is waiting.
  bool claim(Operation& kernel, std::uint64_t& block) const noexcept;
  /// Claims all blocks of a kernel that are left, so that none of them runs.
  static void skip(Operation& kernel) noexcept;
  /// The calling thread is done with the kernel's blocks. True for the last to leave: it must call `finish`.
  bool leave(Operation& kernel);
  /// An operation is over: what depended on it may start.
  void finish(Operation& operation);
  /// The device is lost, since `what` said `words`, if any. The first cause counts; `code` is what callbacks are told.
  void lose(char const* what, char const* words, int code) noexcept;
  /// The device is lost for `why`, unless it is lost already, and no thread waits for it any more.
  void abandon(Error const& why);
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }
  /// Waits for the running work of an abandoned device, and for all that was put into its streams.
  ///
  /// Blocks: until then.
  void wait_to_the_end() noexcept;
  void stop();

 private:
  template <class Act>
  void for_each_before(StreamState const& stream, Request const& request, Act act);
  void make_room(StreamState const& stream, Request const& request);
  Operation& take_unused(StreamState& stream, Request&& request) noexcept;
  void order(Operation& operation) noexcept;
  void make_ready(Operation& operation, Turn& turn);
  void pass(Operation& operation, Turn& turn);
  void lose(Error const& why, int code, Turn& turn);
  void deliver_late(Turn& turn);
  bool at_rest(StreamState const& stream) const noexcept;
  bool needs_engine(Operation const& operation) const noexcept;
  void unqueue(Operation& kernel) noexcept;
  void note_urgency() noexcept;
  void wake_hosts() noexcept;

  mutable std::mutex mutex_;
  std::vector<StreamState*> streams_;
  StreamState* legacy_ = nullptr;
  std::unordered_set<EventState*> events_;
  std::uint64_t next_stream_id_ = 0;

  std::vector<std::unique_ptr<Operation>> operations_;
  OperationQueue unused_;
  std::size_t unfinished_ = 0;
  std::size_t running_ = 0;  ///< Operations that engines are at.
  std::size_t copying_ = 0;  ///< Those of them that are copies.
  std::condition_variable quiet_;

  std::array<ReadyQueue, engine_count> ready_;
  Sleepers sleepers_{};
  OperationQueue late_;
  std::size_t late_count_ = 0;
  std::uint64_t deliveries_ = 0;  ///< How often late callbacks and hosts were let go.
  std::condition_variable delivered_;
  std::size_t removals_ = 0;
  /// The priority of the most urgent kernel with blocks left to claim.
  std::atomic<int> most_urgent_{INT_MAX};
  std::atomic<std::size_t> captures_{0};  ///< That were begun and not ended.
  std::optional<Error> lost_;
  /// What `lost_` says if there is no memory for the cause.
  Error const lost_speechless_{
      ErrorKind::device_lost, "The CPU device is lost, and there is no memory to say why. End this run, and use less."};
  int lost_code_ = 0;
  std::atomic<bool> abandoned_{false};  ///< Written with the mutex held.
  bool stopping_ = false;
};

}  // namespace penstock::cpu
