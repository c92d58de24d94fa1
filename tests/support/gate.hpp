// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace penstock::support {

/// Something that threads pass once it is open.
class Gate {
 public:
  void open() noexcept {
    std::lock_guard const lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  /// Blocks: until it is open.
  void pass() noexcept {
    std::unique_lock lock(mutex_);
    reached_ = true;
    opened_.notify_all();
    opened_.wait(lock, [this] { return open_; });
  }
  /// True once a thread has reached it.
  bool reached() const noexcept {
    std::lock_guard const lock(mutex_);
    return reached_;
  }
  /// Blocks: until `reached()`.
  void await_reached() noexcept {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return reached_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  bool reached_ = false;
};

}  // namespace penstock::support
