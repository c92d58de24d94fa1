// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>

#include "engine/cpu/operation.hpp"
#include "engine/cpu/ready_work.hpp"

namespace penstock::cpu {

/// Callbacks and hosts that a fault made late: they are held until they are delivered, and none is held while a thread
/// waits for the end of a stream or of all.
///
/// Threads: under the scheduler's mutex.
class LateDelivery {
 public:
  /// True if it keeps the callback.
  bool holds(Operation& callback) noexcept {
    if (callback.request.delivery != Delivery::late || ends_awaited_ != 0) return false;
    late_.push(callback);
    ++count_;
    return true;
  }
  /// Number of callbacks and hosts that are held.
  std::size_t count() const noexcept { return count_; }
  /// Lets all go: `make_ready(Operation&)` is called for each callback.
  template <class MakeReady>
  void deliver(MakeReady make_ready) {
    while (Operation* const operation = late_.pop()) {
      // One that was dropped meanwhile stays so.
      if (operation->request.delivery == Delivery::late) operation->request.delivery = Delivery::once;
      make_ready(*operation);
    }
    count_ = 0;
    ++deliveries_;
    delivered_.notify_all();
  }
  /// Holds the calling host.
  ///
  /// Blocks: until the next delivery.
  void await(SchedulerLock& lock) {
    ++count_;
    lock.wait(delivered_, [&, before = deliveries_] { return deliveries_ != before; });
  }
  /// A thread waits for an end; what is held by then is to be delivered.
  void begin_end() noexcept { ++ends_awaited_; }
  void end_end() noexcept { --ends_awaited_; }

 private:
  OperationQueue late_;
  std::size_t count_ = 0;
  std::uint64_t deliveries_ = 0;
  std::condition_variable delivered_;
  std::size_t ends_awaited_ = 0;
};

}  // namespace penstock::cpu
