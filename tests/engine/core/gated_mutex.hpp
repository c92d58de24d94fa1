// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace penstock {

/// Calls a function before the next mutex that the thread that made it locks, once; and so has a test act at a moment
/// that is otherwise up to the scheduler.
///
/// Threads: one.
class GatedMutex {
 public:
  /// False under the thread sanitizer, which wants to see locks for itself: the function is then not called.
#if defined(__SANITIZE_THREAD__)
  static constexpr bool works = false;
#else
  static constexpr bool works = true;
#endif

  explicit GatedMutex(std::function<void()> before_lock);
  GatedMutex(GatedMutex const&) = delete;
  GatedMutex& operator=(GatedMutex const&) = delete;
  ~GatedMutex();

 private:
  std::function<void()> const before_lock_;
};

}  // namespace penstock
