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
#include <utility>

#include "engine/cpu/operation.hpp"

namespace penstock::cpu {

/// The place where one thread of an engine sleeps.
///
/// Each thread has a condition variable of its own. On one that several threads share, glibc before 2.41 may lose a
/// notification of one of them (its bug 25847), and an operation would wait for ever.
///
/// Threads: under the scheduler's mutex. It outlives all calls into the scheduler.
class Seat {
 public:
  Seat() = default;
  Seat(Seat const&) = delete;
  Seat& operator=(Seat const&) = delete;

 private:
  friend class SchedulerLock;
  std::condition_variable called_;
  bool asleep_ = false;
  Seat* below_ = nullptr;  ///< Seat of the same engine, asleep for longer.
};

/// The youngest sleeper of each engine.
using Sleepers = std::array<Seat*, engine_count>;

/// Holds the scheduler's mutex, and acts as soon as it is free, for example tells the schedulers of other devices.
///
/// Threads: the one that made it.
class SchedulerLock {
 public:
  SchedulerLock(std::mutex& mutex, Sleepers& sleepers, OperationQueue& unused)
      : sleepers_(sleepers), unused_(unused), lock_(mutex) {}
  SchedulerLock(SchedulerLock const&) = delete;
  SchedulerLock& operator=(SchedulerLock const&) = delete;
  /// Engines are woken without the mutex, which they need first of all. Kernels that never ran die here too, because
  /// what they captured may have a destructor that calls the device.
  ~SchedulerLock() {
    lock_.unlock();
    notify();
    if (dead_.front() != nullptr) {
      for (Operation* dead = dead_.front(); dead != nullptr; dead = dead->next) dead->request.kernel = nullptr;
      lock_.lock();
      while (Operation* const dead = dead_.pop()) unused_.push(*dead);
      lock_.unlock();
    }
    if (onward_ != nullptr) tell_onward(std::move(onward_));
  }
  /// Tells these when the lock ends, so a thread that waits with it must have told nothing before.
  void tell(std::unique_ptr<Onward> onward) noexcept {
    std::unique_ptr<Onward>* end = &onward_;
    while (*end != nullptr) end = &(*end)->next;
    *end = std::move(onward);
  }
  bool has_to_tell() const noexcept { return onward_ != nullptr; }
  /// Wakes that many threads of an engine, or all that sleep.
  void wake(Engine engine, std::uint64_t threads) noexcept {
    Seat*& youngest = sleepers_[index_of(engine)];
    for (; threads > 0 && youngest != nullptr; --threads) {
      Seat& seat = *std::exchange(youngest, youngest->below_);
      seat.asleep_ = false;
      if (called_count_ == called_.size()) notify();
      called_[called_count_++] = &seat;
    }
  }
  /// Number of threads of an engine that sleep.
  std::uint64_t asleep(Engine engine) const noexcept {
    std::uint64_t count = 0;
    for (Seat const* seat = sleepers_[index_of(engine)]; seat != nullptr; seat = seat->below_) ++count;
    return count;
  }
  /// Keeps an operation that is over for later use; a kernel that is left in it dies once the mutex is free.
  void bury(Operation& operation) noexcept { (operation.request.kernel ? dead_ : unused_).push(operation); }
  /// Sleeps until a thread of the engine is woken and this is the one.
  void await_call(Engine engine, Seat& seat) {
    seat.asleep_ = true;
    seat.below_ = std::exchange(sleepers_[index_of(engine)], &seat);
    wait(seat.called_, [&] { return !seat.asleep_; });
  }
  /// Waits until `ready`, on `changed`, of which all that wait are notified with the mutex held.
  template <class Ready>
  void wait(std::condition_variable& changed, Ready ready) {
    notify();
    changed.wait(lock_, ready);
  }

  /// Waits on `changed`, until `end` at the latest; may return for no reason.
  void wait_until(std::condition_variable& changed, std::chrono::steady_clock::time_point end) {
    notify();
    end == std::chrono::steady_clock::time_point::max() ? changed.wait(lock_)
                                                        : static_cast<void>(changed.wait_until(lock_, end));
  }

 private:
  void notify() noexcept {
    for (std::size_t i = 0; i < called_count_; ++i) called_[i]->called_.notify_one();
    called_count_ = 0;
  }

  Sleepers& sleepers_;
  OperationQueue& unused_;
  OperationQueue dead_;
  std::unique_ptr<Onward> onward_;
  /// The seats to notify. Most locks wake one or two threads; a seat that does not fit is notified with the mutex held.
  std::array<Seat*, 8> called_{};
  std::size_t called_count_ = 0;
  std::unique_lock<std::mutex> lock_;
};

/// Operations that an engine may start now: the most urgent first, then in order of arrival.
class ReadyQueue {
 public:
  Operation* front() const noexcept {
    for (auto const& queue : by_urgency_) {
      if (queue.front() != nullptr) return queue.front();
    }
    return nullptr;
  }
  void push(Operation& operation) noexcept { queue_of(operation).push(operation); }
  void remove(Operation& operation) noexcept { queue_of(operation).remove(operation); }

 private:
  OperationQueue& queue_of(Operation const& operation) noexcept {
    return by_urgency_[static_cast<std::size_t>(operation.stream->priority - greatest_priority)];
  }
  std::array<OperationQueue, static_cast<std::size_t>(least_priority - greatest_priority + 1)> by_urgency_;
};

/// Operations that the engines may start, which depend on nothing any more. The threads of the compute engine share the
/// blocks of a kernel; between two blocks each looks for a kernel that is more urgent.
///
/// A kernel stays here while it has blocks that no thread has claimed. It is over when all are claimed and the last of
/// its workers has left it. `most_urgent_` is the priority of the first in line for the compute engine, INT_MAX if none
/// is.
///
/// Threads: under the scheduler's mutex, but `claim` and `skip` any.
class ReadyWork {
 public:
  ReadyWork() = default;
  ReadyWork(ReadyWork const&) = delete;
  ReadyWork& operator=(ReadyWork const&) = delete;

  /// An operation for an engine's thread to work on; for a kernel also the first block that is now its own.
  struct Work {
    Operation* operation = nullptr;
    std::uint64_t block = 0;
  };
  /// Blocks: until there is work, or `stop` was called: then there is no work. The mutex is free meanwhile.
  Work take(Engine engine, Seat& seat, SchedulerLock& lock);
  void push(Operation& operation, SchedulerLock& lock);
  /// Puts a kernel in line and claims its first block for the calling thread, which may claim others. So one thread
  /// less is needed; nor are those woken whose CPUs such threads keep busy.
  Work push_and_claim(Operation& kernel, SchedulerLock& lock) noexcept;
  /// Counts threads that run the kernels that they launch.
  void add_computing_thread() noexcept { ++computing_; }
  void remove_computing_thread() noexcept { --computing_; }
  /// Claims a further block of a kernel, unless none is left or something more urgent is waiting.
  bool claim(Operation& kernel, std::uint64_t& block) const noexcept;
  /// Claims a further block of a kernel, unless none is left.
  static bool claim_any(Operation& kernel, std::uint64_t& block) noexcept;
  /// Claims all blocks of a kernel that are left, so that none of them runs.
  static void skip(Operation& kernel) noexcept;
  /// A thread is done with the kernel's blocks. True for the last to leave: the kernel is over.
  bool leave(Operation& kernel) noexcept;
  /// Takes out all that waits for an engine, but for callbacks in an engine of theirs: `callbacks`, which may still be
  /// called, and `discarded`, which no thread has begun. Kernels that threads are in are skipped.
  void clear(OperationQueue& callbacks, OperationQueue& discarded) noexcept;
  void stop(SchedulerLock& lock) noexcept;

 private:
  Work claim_first(Operation& kernel) noexcept;
  void unqueue(Operation& kernel) noexcept;
  void note_urgency() noexcept;

  std::array<ReadyQueue, engine_count> queues_;
  std::atomic<int> most_urgent_{INT_MAX};
  std::uint64_t computing_ = 0;  ///< Threads that run what they launch.
  bool stopping_ = false;
};

}  // namespace penstock::cpu
