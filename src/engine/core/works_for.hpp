// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// Says that the calling thread works for an owner, as long as this lives: it is in a sink, say. The end of that owner
/// must not wait for this thread.
///
/// Threads: the one that made it. It may work for several owners, one within another.
class WorksFor {
 public:
  explicit WorksFor(void const* owner) noexcept : owner_(owner), outer_(innermost) { innermost = this; }
  WorksFor(WorksFor const&) = delete;
  WorksFor& operator=(WorksFor const&) = delete;
  ~WorksFor() { innermost = outer_; }

  /// Marks a thread that works for one owner from here to its end, also while it is in `std::exit`.
  static void until_its_end(void const* owner) noexcept { owner_of_thread = owner; }
  /// True on a thread that works for it.
  static bool here(void const* owner) noexcept {
    if (owner_of_thread == owner) return true;
    for (WorksFor const* work = innermost; work != nullptr; work = work->outer_) {
      if (work->owner_ == owner) return true;
    }
    return false;
  }

 private:
  void const* const owner_;
  WorksFor const* const outer_;

  // Both are trivial: std::exit destroys objects that are not before it reaches the code that asks for these.
  static inline thread_local WorksFor const* innermost = nullptr;
  static inline thread_local void const* owner_of_thread = nullptr;
};

}  // namespace penstock
