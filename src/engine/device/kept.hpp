// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace penstock {

/// Things that a device was handed by `keep`, and may still touch. They end with this object, or earlier by `let_go`.
///
/// For a device with work that never ends, no thread can say when that is safe: it must leave this to the process.
///
/// Threads: any.
class Kept {
 public:
  Kept() = default;
  Kept(Kept const&) = delete;
  Kept& operator=(Kept const&) = delete;

  void keep(std::shared_ptr<void> thing) {
    std::lock_guard const lock(mutex_);
    things_.push_back(std::move(thing));
  }
  /// Ends all that was kept so far, on the calling thread. Call it when the device has finished everything.
  void let_go() {
    std::vector<std::shared_ptr<void>> things;
    {
      std::lock_guard const lock(mutex_);
      things.swap(things_);
    }
    // Outside the lock: what ends may have more to keep.
    things.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<void>> things_;
};

}  // namespace penstock
