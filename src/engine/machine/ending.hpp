// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// The end of an input, requested once, by a stop token or by `request`; threads that wait for sockets see it at once.
///
/// Threads: any.
class Ending {
 public:
  /// Throws: Error of kind system, if the process has no descriptor left.
  explicit Ending(std::stop_token const& stop);

  void request() noexcept;
  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
  /// Readable once the end is requested.
  int descriptor() const noexcept { return event_.number; }
  /// Blocks: for so long, or until the end is requested.
  void wait(std::chrono::nanoseconds at_most) const noexcept;

 private:
  std::atomic<bool> requested_{false};
  Descriptor const event_;
  std::stop_callback<std::function<void()>> const on_stop_;
};

}  // namespace penstock
