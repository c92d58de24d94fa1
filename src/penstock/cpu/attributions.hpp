// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/device/work_failure.hpp"

namespace penstock::cpu {

/// To what each thread attributes the work that it launches in one stream. Lanes may share a stream, the legacy one.
///
/// Threads: any; each asks for its own.
class Attributions {
 public:
  /// From here on the calling thread's is `failure`; null for none.
  ///
  /// Throws: std::bad_alloc, the first time that a thread comes with a failure.
  void set(WorkFailure* failure) {
    std::lock_guard const lock(mutex_);
    if (Entry* const mine = find()) {
      mine->failure = failure;
    } else if (failure != nullptr) {
      entries_.push_back({std::this_thread::get_id(), failure});
      any_.store(true, std::memory_order_relaxed);
    }
  }
  /// The calling thread's, or null.
  WorkFailure* mine() {
    // Relaxed: a thread that has set one sees its own store.
    if (!any_.load(std::memory_order_relaxed)) return nullptr;
    std::lock_guard const lock(mutex_);
    Entry const* const mine = find();
    return mine != nullptr ? mine->failure : nullptr;
  }

 private:
  struct Entry {
    std::thread::id thread;
    WorkFailure* failure;
  };
  /// A thread that has ended leaves an entry without a failure; the next of its number takes it over.
  Entry* find() noexcept {
    auto const found = std::find_if(entries_.begin(), entries_.end(),
                                    [self = std::this_thread::get_id()](Entry const& e) { return e.thread == self; });
    return found != entries_.end() ? &*found : nullptr;
  }

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace penstock::cpu
