// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "penstock/device.hpp"

namespace penstock::measure {

/// Measures parts of a run alone, one after the other, on devices whose clock may be late if they are models.
///
/// A part for which a clock was late reaches more than was seen. If that is far above the lowest of the other parts it
/// counts all the same: such a part bounds nothing, and a second try would be as late. Any other is measured again.
/// Once a part was late in each try no more are measured: the ceilings would not be known.
///
/// Threads: the one that made it.
class PartsInTime {
 public:
  /// `each`: how long a try takes, as of pieces_a_second. All three must outlive it.
  PartsInTime(DeviceGroup const& devices, std::chrono::nanoseconds each, std::stop_token const& stop)
      : devices_(devices), each_(each), stop_(stop) {}

  /// Measures a part by pieces_a_second; lateness in its warm-up does not count. `others` is the lowest of the other
  /// parts, as far as they are known.
  ///
  /// Returns: pieces a second; 0 once a part was late in each try.
  /// Blocks, Throws: as pieces_a_second.
  double rate(unsigned threads, std::optional<double> others,
              std::function<std::function<std::size_t()>(unsigned)> const& worker);
  /// The remark on the clock that was late in each try; or empty.
  std::string const& late() const noexcept { return late_; }

 private:
  DeviceGroup const& devices_;
  std::chrono::nanoseconds const each_;
  std::stop_token const& stop_;
  std::string late_;
};

}  // namespace penstock::measure
