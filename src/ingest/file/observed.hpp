// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "penstock/ingest/files.hpp"

namespace penstock {

/// Notifies an observer, if there is one, by one thread at a time.
///
/// Threads: any.
class Observed {
 public:
  explicit Observed(FileObserver* observer) : observer_(observer) {}

  bool any() const noexcept { return observer_ != nullptr; }
  /// Calls `news(observer)`.
  template <class News>
  void tell(News news) {
    if (observer_ == nullptr) return;
    std::scoped_lock const lock(mutex_);
    news(*observer_);
  }

 private:
  FileObserver* const observer_;
  std::mutex mutex_;
};

}  // namespace penstock
