// SPDX-License-Identifier: Apache-2.0
// Reasons why keys and numbers of lines could not be used, and the numbers of such lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace penstock {

/// Result of reading a line's key or number.
enum class LineReason : std::uint8_t {
  used,        ///< It was used.
  no_field,    ///< The line has no such field or member.
  empty,       ///< The field is empty, or "-".
  text,        ///< The field is no number, or no time that is understood.
  decimal,     ///< It is a number with a sign, a point or an exponent, and LineFields::decimal is not set.
  not_whole,   ///< The number is not a whole number of units, or the key is no whole number.
  too_large,   ///< The number has more than 64 bits, or the time is not in the years 0 to 9999.
  no_year,     ///< The time has no year, and none follows from LineFields::first_second.
  outside,     ///< The key is a number or a time that has no group.
  no_object,   ///< The line does not begin with an object; `json` only.
  unfinished,  ///< The object does not end in the line; `json` only.
  broken,      ///< Quotes, brackets or names of the line do not match; `json` only.
  shifted,     ///< The line has no time followed by a request and a status, or no such field; `access_log` only.
};
inline constexpr std::size_t line_reasons = 13;

/// Numbers of lines by reason of key and number, the same on host and GPU.
struct LineReasons {
  std::uint64_t keys[line_reasons] = {};     ///< Lines of the last group, by LineReason. None is `used`.
  std::uint64_t numbers[line_reasons] = {};  ///< Lines whose number was not added, by LineReason. None is `used`.
  std::uint64_t largest = 0;                 ///< The largest group number of a key outside all groups.
  std::uint64_t before = 0;                  ///< The largest distance in groups of a time before the first group.
  /// Lines that end within quotes, and so within a record: the text behind counts as another line. Not counted for
  /// formats with escapes or without quotes.
  std::uint64_t open_quotes = 0;

  constexpr std::uint64_t keys_of(LineReason reason) const noexcept { return keys[static_cast<std::size_t>(reason)]; }
  constexpr std::uint64_t numbers_of(LineReason reason) const noexcept {
    return numbers[static_cast<std::size_t>(reason)];
  }
  constexpr LineReasons& operator+=(LineReasons const& other) noexcept {
    for (std::size_t k = 0; k < line_reasons; ++k) {
      keys[k] += other.keys[k];
      numbers[k] += other.numbers[k];
    }
    open_quotes += other.open_quotes;
    largest = std::max(largest, other.largest);
    before = std::max(before, other.before);
    return *this;
  }
  friend bool operator==(LineReasons const&, LineReasons const&) = default;
};

}  // namespace penstock
