// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "support/kernels.hpp"

namespace penstock {

/// Holds the lanes' streams with what they have in flight, until it lets go of them for good.
class HeldLanes {
 public:
  explicit HeldLanes(support::Kernels const& kernels) : kernels_(kernels) {}
  void hold(StreamRef stream) {
    std::scoped_lock const lock(mutex_);
    ++tiles_;
    if (!released_) held_.push_back(kernels_.hold(stream));
  }
  void release() {
    std::scoped_lock const lock(mutex_);
    released_ = true;
    held_.clear();
  }
  /// Blocks: until so many tiles have come to the lanes' stages.
  void await(std::size_t tiles) const {
    while (tiles_ < tiles) std::this_thread::yield();
  }

 private:
  support::Kernels const& kernels_;
  std::mutex mutex_;
  std::vector<support::Hold> held_;
  bool released_ = false;
  std::atomic<std::size_t> tiles_{0};
};

}  // namespace penstock
