// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "penstock/cpu/operation.hpp"

namespace penstock::cpu {

/// Where one thread of an engine sleeps.
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
  friend class Turn;
  std::condition_variable called_;
  bool asleep_ = false;
  Seat* below_ = nullptr;  ///< Of the same engine, asleep for longer.
};

/// The youngest sleeper of each engine.
using Sleepers = std::array<Seat*, engine_count>;

/// The scheduler's mutex, held; and what to do as soon as it is not.
///
/// Threads: the one that made it.
class Turn {
 public:
  Turn(std::mutex& mutex, Sleepers& sleepers, OperationQueue& unused)
      : sleepers_(sleepers), unused_(unused), lock_(mutex) {}
  Turn(Turn const&) = delete;
  Turn& operator=(Turn const&) = delete;
  /// Engines are woken without the mutex, which they need first of all. Kernels that never ran die here too, because
  /// what they captured may have a destructor that calls the device.
  ~Turn() {
    lock_.unlock();
    notify();
    if (dead_.front() == nullptr) return;
    for (Operation* dead = dead_.front(); dead != nullptr; dead = dead->next) dead->request.kernel = nullptr;
    lock_.lock();
    while (Operation* const dead = dead_.pop()) unused_.push(*dead);
  }
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
  /// Keeps an operation that is over for later use; a kernel that is left in it dies once the mutex is free.
  void bury(Operation& operation) noexcept { (operation.request.kernel ? dead_ : unused_).push(operation); }
  /// Sleeps until a thread of the engine is woken and this is the one.
  void await_call(Engine engine, Seat& seat) {
    seat.asleep_ = true;
    seat.below_ = std::exchange(sleepers_[index_of(engine)], &seat);
    wait(seat.called_, [&] { return !seat.asleep_; });
  }
  /// Waits on what `changed` is notified of for all that wait, with the mutex held.
  template <class Ready>
  void wait(std::condition_variable& changed, Ready ready) {
    notify();
    changed.wait(lock_, ready);
  }

 private:
  void notify() noexcept {
    for (std::size_t i = 0; i < called_count_; ++i) called_[i]->called_.notify_one();
    called_count_ = 0;
  }

  Sleepers& sleepers_;
  OperationQueue& unused_;
  OperationQueue dead_;
  /// The seats to notify. Most turns wake one or two; a seat that does not fit is notified with the mutex held.
  std::array<Seat*, 8> called_{};
  std::size_t called_count_ = 0;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace penstock::cpu
