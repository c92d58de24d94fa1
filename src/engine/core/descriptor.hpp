// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

namespace penstock {

/// A descriptor of an open file, which is closed when it dies.
///
/// Threads: one at a time.
struct Descriptor {
  explicit Descriptor(int open = -1) noexcept : number(open) {}
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  ~Descriptor() { shut(); }
  /// Closes it now.
  void shut() noexcept {
    if (number >= 0) close(number);
    number = -1;
  }

  int number;  ///< -1: none.
};

}  // namespace penstock
