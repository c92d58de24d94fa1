// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "penstock/core/event_count.hpp"

namespace penstock {

/// Lanes of one device wait here at their ends until no lane needs the device any more.
///
/// On a GPU, a call that frees memory waits for all work of the device. A lane that frees its memory while the kernel
/// of another lane does not end would wait for ever. So each lane comes here first, when it is idle or has
/// abandoned the device.
///
/// Threads: the lanes'.
class EndLatch {
 public:
  EndLatch() = default;
  EndLatch(EndLatch const&) = delete;
  EndLatch& operator=(EndLatch const&) = delete;

  /// Says that there is one lane more to wait for.
  void join() noexcept { busy_.fetch_add(1, std::memory_order_relaxed); }
  /// Says that this lane no longer needs the device, and waits for the others.
  ///
  /// Blocks: until each that joined has come here.
  void leave() noexcept {
    // Release, and acquire below: a lane that goes on to free sees what the others did, such as abandon the device.
    busy_.fetch_sub(1, std::memory_order_acq_rel);
    all_left_.notify();
    auto const none = [this] { return busy_.load(std::memory_order_acquire) == 0; };
    while (!all_left_.await(none, std::chrono::nanoseconds(0), std::chrono::hours(1))) {
    }
  }

 private:
  std::atomic<std::size_t> busy_{0};
  EventCount all_left_;
};

}  // namespace penstock
