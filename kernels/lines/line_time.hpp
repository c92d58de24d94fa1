// SPDX-License-Identifier: Apache-2.0
// Fields of a line that are times, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/line_calendar.hpp"
#include "kernels/lines/line_values.hpp"
#include "kernels/lines/time_cursor.hpp"

namespace penstock {

/// Reads the time that is in [begin, end); `byte_at(i)` is the byte there.
template <class Place, class ByteAt>
class TimeReader : private TimeCursor<Place, ByteAt> {
  using Cursor = TimeCursor<Place, ByteAt>;

 public:
  /// `from`: a time without a year is the first one from this second on; with a second before year 0 it is none.
  /// `goes_on`: the time may end before `end`, at a blank or the end of the line. It may have blanks within.
  PENSTOCK_WALKS_THERE constexpr TimeReader(ByteAt const& byte_at, Place begin, Place end, std::int64_t from,
                                            bool goes_on)
      : Cursor(byte_at, begin, end), from_(from), goes_on_(goes_on) {}

  /// Reads seconds since the beginning of 1970, UTC, without a fraction. A reason other than `used` says that it is no
  /// time, is not in the years 0 to 9999, or has no year.
  PENSTOCK_WALKS_THERE constexpr LineReason read(std::int64_t& seconds) {
    in_brackets_ = skip('[');
    while (skip(' ')) {
    }
    LineReason reason = LineReason::text;
    if (usual()) {
      if (!fraction_and_zone()) return reason;
    } else if (is_letter(next())) {
      if (!words()) return reason;
    } else {
      unsigned const digits = count_digits();
      char const behind = byte_behind(digits);
      if (digits == 4 && (behind == '-' || behind == '/')) {
        if (!year_first(behind)) return reason;
      } else if (digits - 1 < 2 && (behind == '/' || behind == '-' || behind == ' ') &&
                 is_letter(byte_behind(digits + 1))) {
        if (!day_first()) return reason;
      } else if ((digits == 8 || digits == 14 || (digits == 12 && is_century())) && behind != '.') {
        if (!digits_only(digits)) return reason;
      } else {
        reason = counted(seconds);
        return reason == LineReason::text || ends() ? reason : LineReason::text;
      }
    }
    if (!ends() || month_ < 1 || month_ > 12) return reason;
    return has_year_ ? seconds_of(year_, seconds) : without_year(seconds);
  }
  /// The place where reading stopped. Less than time_look_ahead bytes behind it were looked at.
  PENSTOCK_WALKS_THERE constexpr Place stopped() const { return at_; }

 private:
  using Cursor::at_;
  using Cursor::byte_at_;
  using Cursor::byte_behind;
  using Cursor::count_digits;
  using Cursor::end_;
  using Cursor::is_digit;
  using Cursor::next;
  using Cursor::number;
  using Cursor::skip;
  using Cursor::two;

  template <class LetterAt>
  PENSTOCK_WALKS_THERE constexpr bool name(LetterAt const& letter_at, unsigned names, unsigned& found) {
    Place const first = at_;
    while (is_letter(next())) ++at_;
    found = name_in(byte_at_, first, at_, letter_at, names);
    return found != 0;
  }
  PENSTOCK_WALKS_THERE constexpr bool month_name() {
    return name([](unsigned at) { return month_letter(at); }, 12, month_);
  }
  PENSTOCK_WALKS_THERE constexpr bool year_of_digits(bool may_be_short) {
    unsigned const digits = count_digits();
    if (digits != 4 && (digits != 2 || !may_be_short)) return false;
    static_cast<void>(number(digits, digits, year_));
    // Years of two digits are those from 1969 to 2068, as in strptime of POSIX.
    if (digits == 2) year_ += year_ < 69 ? 2000 : 1900;
    return has_year_ = true;
  }

  /// Takes a date and a time of day in the forms of most logs: 17/May/2015:10:05:03 or 2015-05-17T10:05:03.
  PENSTOCK_WALKS_THERE constexpr bool usual() {
    if (end_ - at_ < 19) return false;
    auto const is = [&](unsigned behind, char byte) { return byte_at_(at_ + behind) == byte; };
    bool const of_log = is(2, '/') && is(6, '/') && is(11, ':') && end_ - at_ > 19;
    unsigned const hour = of_log ? 12 : 11;
    if (!of_log && !(is(4, '-') && is(7, '-') && (is(10, 'T') || is(10, ' ')))) return false;
    if (!is(hour + 2, ':') || !is(hour + 5, ':')) return false;
    unsigned const month = of_log ? month_of(byte_at_(at_ + 3), byte_at_(at_ + 4), byte_at_(at_ + 5)) : two(5);
    unsigned const year = two(of_log ? 7 : 0) * 100 + two(of_log ? 9 : 2), day = two(of_log ? 0 : 8);
    unsigned const of_day[3] = {two(hour), two(hour + 3), two(hour + 6)};
    if (year > 9999 || month < 1 || month > 12 || day > 31 || of_day[0] > 23 || of_day[1] > 59 || of_day[2] > 60) {
      return false;
    }
    year_ = year;
    month_ = month;
    day_ = day;
    hour_ = of_day[0];
    minute_ = of_day[1];
    second_ = of_day[2];
    has_year_ = has_seconds_ = true;
    at_ += hour + 8;
    return true;
  }
  /// Reads 2015-05-17T10:05:03.25+02:00, or the same with slashes and a blank.
  PENSTOCK_WALKS_THERE constexpr bool year_first(char separator) {
    return year_of_digits(false) && skip(separator) && number(1, 2, month_) && skip(separator) && number(1, 2, day_) &&
           time_behind();
  }
  /// Reads 17/May/2015:10:05:03 +0200, 17 May 2015 10:05:03 GMT or 17-May-15.
  PENSTOCK_WALKS_THERE constexpr bool day_first() {
    if (!number(1, 2, day_)) return false;
    char const separator = next();
    if (separator != '/' && separator != '-' && separator != ' ') return false;
    ++at_;
    if (!month_name() || !skip(separator) || !year_of_digits(separator != '/')) return false;
    if (next() != ':' || !is_digit(1)) return time_behind();
    ++at_;
    return time_of_day() && has_seconds_ && fraction_and_zone();
  }
  /// Twelve digits begin with a year from 1900 to 2199. As a number of seconds they would be beyond the year 7000.
  PENSTOCK_WALKS_THERE constexpr bool is_century() const {
    char const first = byte_behind(0), second = byte_behind(1);
    return (first == '1' && second == '9') || (first == '2' && second < '2');
  }
  /// Reads 20150517, 20150517T100503Z, 201505171005 or 20150517100503.
  PENSTOCK_WALKS_THERE constexpr bool digits_only(unsigned digits) {
    has_year_ = true;
    if (!number(4, 4, year_) || !number(2, 2, month_) || !number(2, 2, day_)) return false;
    return digits == 8 ? time_behind() : compact_time() && fraction_and_zone();
  }
  /// Reads Sun May 17 10:05:03 2015, Sun, 17 May 2015 10:05:03 GMT, May 17, 2015 or May 7 10:05:03.
  PENSTOCK_WALKS_THERE constexpr bool words() {
    Place const first = at_;
    unsigned weekday = 0;
    if (name([](unsigned at) { return weekday_letter(at); }, 7, weekday)) {
      static_cast<void>(skip(','));
      while (skip(' ')) {
      }
      if (!is_letter(next())) return day_first();
    } else {
      at_ = first;
    }
    if (!month_name()) return false;
    while (skip(' ')) {
    }
    if (!number(1, 2, day_)) return false;
    static_cast<void>(skip(','));
    while (skip(' ')) {
    }
    if (count_digits() == 4) return year_of_digits(false) && time_behind();
    if (!time_of_day() || !fraction_and_zone()) return false;
    // A time of syslog may be followed by any number.
    bool const may_have_year = weekday != 0 || in_brackets_ || !goes_on_;
    return !may_have_year || next() != ' ' || !is_digit(1) || (skip(' ') && year_of_digits(false));
  }

  /// Takes a time of day that may follow, with what belongs to it.
  PENSTOCK_WALKS_THERE constexpr bool time_behind() {
    char const separator = next();
    if (separator != 'T' && separator != 't' && separator != ' ') return true;
    // This is a date alone, and a blank that another field follows.
    if (separator == ' ' && goes_on_ && (!is_digit(1) || byte_behind(is_digit(2) ? 3 : 2) != ':')) return true;
    ++at_;
    while (skip(' ')) {
    }
    return (count_digits() < 4 ? time_of_day() : compact_time()) && fraction_and_zone();
  }
  PENSTOCK_WALKS_THERE constexpr bool time_of_day() {
    if (!number(1, 2, hour_) || !skip(':') || !number(2, 2, minute_)) return false;
    has_seconds_ = skip(':');
    if (has_seconds_ && !number(2, 2, second_)) return false;
    return hour_ < 24 && minute_ < 60 && second_ <= 60;
  }
  /// Reads 1005 or 100503.
  PENSTOCK_WALKS_THERE constexpr bool compact_time() {
    unsigned const digits = count_digits();
    has_seconds_ = digits == 6;
    if ((digits != 4 && digits != 6) || !number(2, 2, hour_) || !number(2, 2, minute_)) return false;
    if (has_seconds_) static_cast<void>(number(2, 2, second_));
    return hour_ < 24 && minute_ < 60 && second_ <= 60;
  }
  PENSTOCK_WALKS_THERE constexpr bool fraction_and_zone() {
    if (has_seconds_ && (next() == '.' || next() == ',') && is_digit(1)) {
      ++at_;
      while (digit_of(next()) <= 9) ++at_;
    }
    unsigned blank = next() == ' ' ? 1 : 0;
    if (is_offset(blank, blank != 0)) {
      at_ += blank;
      return offset();
    }
    if (!is_letter(byte_behind(blank))) return true;
    if (!half_of_day()) return false;
    if (skip('Z') || skip('z')) return has_zone_ = true;
    blank = next() == ' ' ? 1 : 0;
    Zone const zone = zone_in([&](unsigned letter) { return byte_behind(blank + letter); });
    if (zone.letters != 0) {
      at_ += blank + zone.letters;
      offset_ = std::int64_t{zone.hours} * 3600;
      has_zone_ = true;
      // An offset may follow, as in GMT+0200.
      return zone.is_known && (offset_ != 0 || !is_offset(0, false) || offset());
    }
    if (!is_offset(blank, blank != 0)) return true;
    at_ += blank;
    return offset();
  }
  /// Takes AM or PM, if it comes next.
  PENSTOCK_WALKS_THERE constexpr bool half_of_day() {
    unsigned const blank = next() == ' ' ? 1 : 0;
    auto const folded = [&](unsigned behind) { return static_cast<char>(byte_behind(blank + behind) | 0x20); };
    if ((folded(0) != 'a' && folded(0) != 'p') || folded(1) != 'm' || is_letter(folded(2))) return true;
    bool const is_hour = hour_ >= 1 && hour_ <= 12;
    hour_ = hour_ % 12 + (folded(0) == 'p' ? 12 : 0);
    at_ += blank + 2;
    return is_hour;
  }
  /// True if an offset comes next. If times may end before their line does, a number behind a blank may be another
  /// field: then an offset has four digits, and one with a minus but no colon is less than ten hours, or whole hours.
  PENSTOCK_WALKS_THERE constexpr bool is_offset(unsigned behind, bool blank) const {
    char const sign = byte_behind(behind);
    if ((sign != '+' && sign != '-') || !is_digit(behind + 1) || !is_digit(behind + 2)) return false;
    if (!blank || !goes_on_ || in_brackets_) return true;
    bool const colon = byte_behind(behind + 3) == ':';
    unsigned const minutes = behind + (colon ? 4 : 3);
    if (!is_digit(minutes) || !is_digit(minutes + 1) || is_digit(minutes + 2)) return false;
    return sign == '+' || colon || byte_behind(behind + 1) == '0' ||
           (byte_behind(minutes) == '0' && byte_behind(minutes + 1) == '0');
  }
  PENSTOCK_WALKS_THERE constexpr bool offset() {
    bool const west = next() == '-';
    ++at_;
    unsigned hours = 0, minutes = 0;
    if (!number(2, 2, hours)) return false;
    bool const colon = skip(':');
    if ((colon || digit_of(next()) <= 9) && !number(2, 2, minutes)) return false;
    offset_ = (std::int64_t{hours} * 60 + minutes) * 60 * (west ? -1 : 1);
    has_zone_ = true;
    return hours < 24 && minutes < 60;
  }
  /// True if nothing follows the time that could belong to it.
  PENSTOCK_WALKS_THERE constexpr bool ends() {
    if (in_brackets_) return skip(']') && (goes_on_ || at_ == end_);
    // Mail has a comment behind an offset.
    if (!goes_on_) return at_ == end_ || (next() == ' ' && byte_behind(1) == '(' && byte_at_(end_ - 1) == ')');
    auto const is_blank = [](char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; };
    char const byte = next();
    return is_blank(byte) || ((byte == ':' || byte == ',' || byte == ';') && is_blank(byte_behind(1)));
  }

  PENSTOCK_WALKS_THERE constexpr LineReason counted(std::int64_t& seconds) {
    bool const negative = skip('-');
    FieldNumber whole;
    for (; digit_of(next()) <= 9; ++at_) whole.take(byte_at_(at_));
    if (!whole.digits) return LineReason::text;
    bool rest = false;
    if (next() == '.' && is_digit(1)) {
      for (++at_; digit_of(next()) <= 9; ++at_) rest = rest || next() != '0';
    }
    return whole.wrong ? LineReason::too_large : seconds_of_count(whole.value, negative, rest, seconds);
  }
  PENSTOCK_WALKS_THERE constexpr LineReason seconds_of(unsigned year, std::int64_t& seconds) const {
    if (day_ < 1 || day_ > days_of_month(year, month_)) return LineReason::text;
    // A leap second counts as the one before it, so that it is in the same minute.
    unsigned const second = second_ == 60 ? 59 : second_;
    seconds = ((days_since_1970(year, month_, day_) * 24 + hour_) * 60 + minute_) * 60 + second - offset_;
    if (second_ == 60 && (has_zone_ || minute_ != 59) && (seconds % 86'400 + 86'400) % 86'400 != 86'399) {
      return LineReason::text;
    }
    return seconds < first_line_second || seconds > last_line_second ? LineReason::too_large : LineReason::used;
  }
  PENSTOCK_WALKS_THERE constexpr LineReason without_year(std::int64_t& seconds) const {
    if (from_ < first_line_second) return LineReason::no_year;
    unsigned const year = year_of_day(from_ / 86'400 - (from_ < 0 ? 1 : 0));
    if (LineReason const reason = seconds_of(year, seconds); reason == LineReason::used && seconds >= from_) {
      return reason;
    }
    return seconds_of(year + 1, seconds);
  }

  std::int64_t const from_;
  std::int64_t offset_ = 0;
  unsigned year_ = 0, month_ = 0, day_ = 0, hour_ = 0, minute_ = 0, second_ = 0;
  bool const goes_on_;
  bool in_brackets_ = false, has_year_ = false, has_seconds_ = false, has_zone_ = false;
};

}  // namespace penstock
