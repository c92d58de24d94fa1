// SPDX-License-Identifier: Apache-2.0
// Days and names of the Gregorian calendar, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/line_values.hpp"

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
/// The year of this day; a day before year 0 has none.
PENSTOCK_WALKS_THERE constexpr unsigned year_of_day(std::int64_t day) {
  // The estimate by the mean length of a year is at most one year too late or too early.
  std::int64_t const about = 1970 + day * 400 / 146'097;
  unsigned year = about < 1 ? 0 : static_cast<unsigned>(about - 1);
  while (days_since_1970(year + 1, 1, 1) <= day) ++year;
  return year;
}

/// The first and the last second of the years 0 to 9999, since the beginning of 1970.
inline constexpr std::int64_t first_line_second = -62'167'219'200, last_line_second = 253'402'300'799;

/// Reads a number that counts from the beginning of 1970, in whole seconds. Its size shows its unit: for the years 1980
/// to 9999 no number has one meaning in seconds and another one in milliseconds, microseconds or nanoseconds.
PENSTOCK_WALKS_THERE constexpr LineReason seconds_of_count(std::uint64_t count, bool negative, bool rest,
                                                           std::int64_t& seconds) {
  constexpr std::uint64_t first_of_1980 = 315'532'800, last = last_line_second;
  bool const in_seconds = count <= last;
  while (count > last) {  // Three times at most, as it has 64 bits.
    rest = rest || count % 1000 != 0;
    count /= 1000;
  }
  if (!in_seconds && count < first_of_1980) return LineReason::too_large;
  seconds = static_cast<std::int64_t>(count);
  if (negative) seconds = -seconds - (rest ? 1 : 0);
  return seconds < first_line_second || seconds > last_line_second ? LineReason::too_large : LineReason::used;
}

/// Twelve or seven names, each padded with blanks to nine characters.
inline constexpr unsigned name_size = 9;
PENSTOCK_WALKS_THERE constexpr char month_letter(unsigned at) {
  return "january  february march    april    may      june     july     august   septemberoctober  november december "
      [at];
}
PENSTOCK_WALKS_THERE constexpr char weekday_letter(unsigned at) {
  return "monday   tuesday  wednesdaythursday friday   saturday sunday   "[at];
}

PENSTOCK_WALKS_THERE constexpr bool is_letter(char byte) {
  return static_cast<unsigned>(static_cast<unsigned char>(byte) | 0x20U) - unsigned{'a'} < 26;
}

/// The month with this name of three letters; 0 if there is none.
PENSTOCK_WALKS_THERE constexpr unsigned month_of(char first, char second, char third) {
  unsigned month = 1;
  for (char const* name = "JanFebMarAprMayJunJulAugSepOctNovDec"; *name != 0; name += 3, ++month) {
    if (name[0] == first && name[1] == second && name[2] == third) return month;
  }
  return 0;
}

/// The number, from 1, of the name in [begin, end) among `names` names. It has three letters or all, in upper or lower
/// case. 0 if it is none of them.
template <class Place, class ByteAt, class LetterAt>
PENSTOCK_WALKS_THERE constexpr unsigned name_in(ByteAt const& byte_at, Place begin, Place end,
                                                LetterAt const& letter_at, unsigned names) {
  auto const size = static_cast<unsigned>(end - begin);
  if (size < 3 || size > name_size) return 0;
  for (unsigned name = 0; name < names; ++name) {
    unsigned same = 0;
    while (same < size && static_cast<char>(byte_at(begin + same) | 0x20) == letter_at(name * name_size + same)) ++same;
    if (same == size && (size == 3 || size == name_size || letter_at(name * name_size + size) == ' ')) return name + 1;
  }
  return 0;
}

/// Names of zones in logs: four letters or blanks, and a letter for the hours from UTC: N is one to the east, L one to
/// the west. A name with `?` stands for several zones.
///
/// Source: RFC 5322, 4.3, for those in America; the tz database.
inline constexpr unsigned zone_names = 35, zone_size = 5;
PENSTOCK_WALKS_THERE constexpr char zone_letter(unsigned at) {
  return "UTC MGMT MUT  MEST HEDT ICST GCDT HMST FMDT GPST EPDT FAKSTDAKDTEHST CWET MWESTNCET NCESTOMET NMESTOEET "
         "OEESTP"
         "MSK PJST VKST VSGT UHKT UAESTWAEDTXNZSTYNZDTZIST ?BST ?AST ?ADT ?"[at];
}
struct Zone {
  unsigned letters = 0;  ///< Letters of its name; 0 if there is no zone.
  int hours = 0;         ///< Hours to the east of UTC.
  bool is_known = false;
};
/// The zone whose name comes next, if no letter follows it; `byte_at(i)` is the byte behind `i` others.
template <class ByteAt>
PENSTOCK_WALKS_THERE constexpr Zone zone_in(ByteAt const& byte_at) {
  for (unsigned zone = 0; is_letter(byte_at(0)) && zone < zone_names; ++zone) {
    unsigned const first = zone * zone_size;
    unsigned letters = 0;
    while (letters < zone_size - 1 && is_letter(byte_at(letters)) && zone_letter(first + letters) == byte_at(letters)) {
      ++letters;
    }
    bool const ends = letters == zone_size - 1 || zone_letter(first + letters) == ' ';
    if (!ends || is_letter(byte_at(letters))) continue;
    char const hours = zone_letter(first + zone_size - 1);
    return {.letters = letters, .hours = hours - 'M', .is_known = hours != '?'};
  }
  return {};
}

}  // namespace penstock
