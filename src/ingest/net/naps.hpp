// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace penstock {

/// Computes the time for which a receiver without data may be left alone while its tile lingers.
///
/// Each check costs a context switch. Unread data waits in a buffer, which must not become full: naps grow while the
/// data fills at most a sixteenth of it, and shrink from an eighth on. If the rate becomes eight times as high during a
/// nap, the data still finds room.
///
/// Threads: one at a time.
class Naps {
 public:
  static constexpr std::chrono::microseconds shortest{100}, longest{800};  ///< docs/decisions/sockets-and-rings.md.

  std::chrono::microseconds length() const noexcept { return length_; }
  /// Updates the length after a nap, when `held` bytes waited in a buffer of `room`.
  void ended(std::size_t held, std::size_t room) noexcept {
    if (held <= room / 16) length_ = std::min(2 * length_, longest);
    if (held >= room / 8) length_ = std::max(length_ / 2, shortest);
  }

 private:
  std::chrono::microseconds length_ = shortest;
};

}  // namespace penstock
