// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace penstock {

/// How long a receiver that had no more may be left alone while its tile lingers.
///
/// To look costs a change of threads. What was not looked for waits in a buffer, which may not become full: so naps
/// grow while they leave a sixteenth of it at most, and shrink from an eighth on. A rate that becomes eight times as
/// high during a nap still finds room.
///
/// Threads: one at a time.
class Naps {
 public:
  static constexpr std::chrono::microseconds shortest{100}, longest{800};  ///< docs/decisions/sockets-and-rings.md.

  std::chrono::microseconds length() const noexcept { return length_; }
  /// Behind a nap of this length, `held` bytes waited in a buffer of `room`.
  void ended(std::size_t held, std::size_t room) noexcept {
    if (held <= room / 16) length_ = std::min(2 * length_, longest);
    if (held >= room / 8) length_ = std::max(length_ / 2, shortest);
  }

 private:
  std::chrono::microseconds length_ = shortest;
};

}  // namespace penstock
