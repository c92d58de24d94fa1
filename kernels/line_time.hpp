// SPDX-License-Identifier: Apache-2.0
// Fields of a line that are times, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/kernels/line_values.hpp"

namespace penstock {

/// Days from the beginning of 1970 to this day of the Gregorian calendar, which goes back before it began.
///
/// Source: Reingold and Dershowitz, Calendrical Calculations.
PENSTOCK_WALKS_THERE constexpr std::int64_t days_since_1970(unsigned year, unsigned month, unsigned day) {
  std::int64_t const before = std::int64_t{year} - 1;
  // Year 0 has a leap day, as 400 has: 400 years have 146,097 days.
  std::int64_t const leap_days = (before + 400) / 4 - (before + 400) / 100 + (before + 400) / 400 - 97;
  bool const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  unsigned const february = month <= 2 ? 0 : leap ? 1 : 2;
  return 365 * before + leap_days + (367 * month - 362) / 12 - february + day - 719'163;
}
PENSTOCK_WALKS_THERE constexpr unsigned days_of_month(unsigned year, unsigned month) {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// The month with this name of three letters; 0 if there is none.
PENSTOCK_WALKS_THERE constexpr unsigned month_of(char first, char second, char third) {
  unsigned month = 1;
  for (char const* name = "JanFebMarAprMayJunJulAugSepOctNovDec"; *name != 0; name += 3, ++month) {
    if (name[0] == first && name[1] == second && name[2] == third) return month;
  }
  return 0;
}

/// Reads the time that is in [begin, end), and nothing else; `byte_at(i)` is the byte there.
template <class Place, class ByteAt>
class TimeReader {
 public:
  PENSTOCK_WALKS_THERE constexpr TimeReader(ByteAt const& byte_at, Place begin, Place end)
      : byte_at_(byte_at), at_(begin), end_(end) {}

  /// In seconds since the beginning of 1970, UTC, without a fraction. False if it is no time.
  PENSTOCK_WALKS_THERE constexpr bool read(std::int64_t& seconds) {
    if (end_ - at_ >= 2 && byte_at_(at_) == '[' && byte_at_(end_ - 1) == ']') {
      ++at_;
      --end_;
    }
    bool const of_log = end_ - at_ > 2 && byte_at_(at_ + 2) == '/';
    if (!of_log && (end_ - at_ <= 4 || byte_at_(at_ + 4) != '-')) return epoch(seconds);
    unsigned year = 0, month = 0, day = 0, of_day[3] = {};
    bool const good = of_log
                          ? number(2, day) && skip('/') && month_name(month) && skip('/') && number(4, year) &&
                                skip(':') && time_of_day(of_day, true)
                          : number(4, year) && skip('-') && number(2, month) && skip('-') && number(2, day) &&
                                (at_ == end_ || ((skip('T') || skip('t') || skip(' ')) && time_of_day(of_day, false)));
    std::int64_t offset = 0;
    if (!good || !fraction() || !zone(offset) || at_ != end_) return false;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return false;
    std::int64_t const days = days_since_1970(year, month, day);
    seconds = ((days * 24 + of_day[0]) * 60 + of_day[1]) * 60 + of_day[2] - offset;
    return true;
  }

 private:
  PENSTOCK_WALKS_THERE constexpr char next() const { return at_ < end_ ? byte_at_(at_) : '\n'; }
  PENSTOCK_WALKS_THERE constexpr bool skip(char byte) {
    if (next() != byte) return false;
    ++at_;
    return true;
  }
  /// A number of exactly so many digits.
  PENSTOCK_WALKS_THERE constexpr bool number(unsigned digits, unsigned& to) {
    to = 0;
    for (unsigned k = 0; k < digits; ++k) {
      unsigned const digit = digit_of(next());
      if (digit > 9) return false;
      to = to * 10 + digit;
      ++at_;
    }
    return true;
  }
  PENSTOCK_WALKS_THERE constexpr bool month_name(unsigned& month) {
    if (end_ - at_ < 3) return false;
    month = month_of(byte_at_(at_), byte_at_(at_ + 1), byte_at_(at_ + 2));
    at_ += 3;
    return month != 0;
  }
  PENSTOCK_WALKS_THERE constexpr bool time_of_day(unsigned (&to)[3], bool with_seconds) {
    if (!number(2, to[0]) || !skip(':') || !number(2, to[1])) return false;
    if (skip(':')) {
      if (!number(2, to[2])) return false;
      has_seconds_ = true;
    } else if (with_seconds) {
      return false;
    }
    has_time_ = true;
    return to[0] < 24 && to[1] < 60 && to[2] < 60;
  }
  /// What is behind the seconds is not looked at, if it is digits.
  PENSTOCK_WALKS_THERE constexpr bool fraction() {
    if (!has_seconds_ || (!skip('.') && !skip(','))) return true;
    Place const first = at_;
    while (digit_of(next()) <= 9) ++at_;
    return at_ != first;
  }
  PENSTOCK_WALKS_THERE constexpr bool zone(std::int64_t& offset) {
    if (at_ == end_ || !has_time_) return true;
    if (skip('Z') || skip('z')) return true;
    static_cast<void>(skip(' '));
    bool const west = next() == '-';
    if (!skip('-') && !skip('+')) return false;
    unsigned hours = 0, minutes = 0;
    if (!number(2, hours)) return false;
    if (at_ != end_ && (static_cast<void>(skip(':')), !number(2, minutes))) return false;
    offset = (std::int64_t{hours} * 60 + minutes) * 60 * (west ? -1 : 1);
    return hours < 24 && minutes < 60;
  }
  PENSTOCK_WALKS_THERE constexpr bool epoch(std::int64_t& seconds) {
    bool const negative = skip('-');
    FieldNumber whole;
    for (; digit_of(next()) <= 9; ++at_) whole.take(byte_at_(at_));
    // Far more than any year with four digits.
    if (!whole.good() || whole.value > 1'000'000'000'000'000'000U) return false;
    bool rest = false;
    if (skip('.')) {
      Place const first = at_;
      for (; digit_of(next()) <= 9; ++at_) rest = rest || next() != '0';
      if (at_ == first) return false;
    }
    seconds = static_cast<std::int64_t>(whole.value);
    if (negative) seconds = -seconds - (rest ? 1 : 0);
    return at_ == end_;
  }

  ByteAt const& byte_at_;
  Place at_;
  Place end_;
  bool has_time_ = false, has_seconds_ = false;
};

}  // namespace penstock
