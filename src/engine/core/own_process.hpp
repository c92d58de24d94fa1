// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <sys/types.h>
#include <unistd.h>

namespace penstock {

/// The process that made an object.
///
/// A child of fork has a copy of the object and none of its threads. Locks may be held there for ever, and descriptors,
/// files and shared memory are the parent's, too. So a destructor in the child leaves everything as it is.
///
/// Threads: any.
class OwnProcess {
 public:
  /// False in a child of fork.
  bool is_current() const noexcept { return id_ == getpid(); }

 private:
  pid_t const id_ = getpid();
};

/// In a child of fork `parts` stays in memory as it is, and true is returned. For destructors.
///
/// Shape: `parts->process` is an OwnProcess.
template <class Parts>
bool left_to_parent(std::unique_ptr<Parts>& parts) noexcept {
  if (parts == nullptr || parts->process.is_current()) return false;
  static_cast<void>(parts.release());
  return true;
}

}  // namespace penstock
