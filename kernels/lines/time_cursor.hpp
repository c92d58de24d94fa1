// SPDX-License-Identifier: Apache-2.0
// A place in a text that is read as a time, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/line_values.hpp"

namespace penstock {

inline constexpr unsigned time_look_ahead = 16;

/// Goes through the bytes of [begin, end); `byte_at(i)` is the byte at a place. The bytes behind them read as the end
/// of a line.
template <class Place, class ByteAt>
class TimeCursor {
 protected:
  PENSTOCK_WALKS_THERE constexpr TimeCursor(ByteAt const& byte_at, Place begin, Place end)
      : byte_at_(byte_at), at_(begin), end_(end) {}

  PENSTOCK_WALKS_THERE constexpr char next() const { return at_ < end_ ? byte_at_(at_) : '\n'; }
  /// The byte behind `bytes` others.
  PENSTOCK_WALKS_THERE constexpr char byte_behind(unsigned bytes) const {
    return end_ - at_ > bytes ? byte_at_(at_ + bytes) : '\n';
  }
  PENSTOCK_WALKS_THERE constexpr bool is_digit(unsigned behind) const { return digit_of(byte_behind(behind)) <= 9; }
  /// Number of digits that come next, as far as it looks ahead.
  PENSTOCK_WALKS_THERE constexpr unsigned count_digits() const {
    unsigned digits = 0;
    while (digits < time_look_ahead - 1 && is_digit(digits)) ++digits;
    return digits;
  }
  PENSTOCK_WALKS_THERE constexpr bool skip(char byte) {
    if (next() != byte) return false;
    ++at_;
    return true;
  }
  /// Reads a number of `least` to `most` digits.
  PENSTOCK_WALKS_THERE constexpr bool number(unsigned least, unsigned most, unsigned& to) {
    to = 0;
    unsigned digits = 0;
    for (; digits < most; ++digits, ++at_) {
      unsigned const digit = digit_of(next());
      if (digit > 9) break;
      to = to * 10 + digit;
    }
    return digits >= least;
  }
  /// Two digits behind `behind` other bytes; more than 99 if they are none.
  PENSTOCK_WALKS_THERE constexpr unsigned two(unsigned behind) const {
    unsigned const first = digit_of(byte_at_(at_ + behind)), second = digit_of(byte_at_(at_ + behind + 1));
    return first <= 9 && second <= 9 ? first * 10 + second : 1000;
  }

  ByteAt const& byte_at_;
  Place at_;
  Place const end_;
};

}  // namespace penstock
