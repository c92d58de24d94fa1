// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "kernels/lines/line_time.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

/// The decimal digits of a number of 128 bits, whose parts of 32 bits begin with the highest.
std::string digits_of(std::array<std::uint32_t, 4> parts) {
  std::string digits;
  while (parts != std::array<std::uint32_t, 4>{}) {
    std::uint64_t rest = 0;
    for (std::uint32_t& part : parts) {
      rest = rest << 32U | part;
      part = static_cast<std::uint32_t>(rest / 10);
      rest %= 10;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + rest));
  }
  return digits;
}

}  // namespace

LineName::LineName(std::string_view name) {
  if (name.size() > most_bytes) {
    throw Error(ErrorKind::bad_argument, "The name of a field has " + std::to_string(name.size()) + " bytes: at most " +
                                             std::to_string(most_bytes) + " are looked for.");
  }
  std::memcpy(bytes, name.data(), name.size());
  size = static_cast<std::uint8_t>(name.size());
}

std::string sum_text(LineGroup const& group, LineFields const& fields) {
  bool const negative = group.high < 0;
  auto high = static_cast<std::uint64_t>(group.high);
  std::uint64_t low = group.sum;
  if (negative) {
    low = ~low + 1;
    high = ~high + (low == 0 ? 1 : 0);
  }
  auto const part = [](std::uint64_t half, unsigned shift) { return static_cast<std::uint32_t>(half >> shift); };
  std::string text = digits_of({part(high, 32), part(high, 0), part(low, 32), part(low, 0)});
  if (text.size() <= fields.places) text.insert(0, fields.places + 1 - text.size(), '0');
  if (fields.places > 0) text.insert(text.size() - fields.places, 1, '.');
  return (negative ? "-" : "") + text;
}

std::string group_name(std::size_t group, LineFields const& fields) {
  if (fields.group_seconds == 0) return std::to_string(group);
  constexpr std::int64_t day_seconds = 86'400, cycle_years = 400, cycle_days = 146'097;
  std::int64_t const at = fields.first_second + static_cast<std::int64_t>(group) * fields.group_seconds;
  std::int64_t const second = (at % day_seconds + day_seconds) % day_seconds;
  // The calendar repeats after 400 years; the first group may begin before year 0.
  std::int64_t const day = (at - second) / day_seconds + cycle_days;
  unsigned const year = year_of_day(day);
  unsigned month = 1;
  while (month < 12 && days_since_1970(year, month + 1, 1) <= day) ++month;
  std::int64_t const named = std::int64_t{year} - cycle_years;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s%04d-%02u-%02dT%02d:%02d:%02dZ", named < 0 ? "-" : "",
                static_cast<int>(std::abs(named)), month, static_cast<int>(day - days_since_1970(year, month, 1)) + 1,
                static_cast<int>(second / 3600), static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
  return text.data();
}

std::optional<std::int64_t> time_of_text(std::string_view text) {
  auto const byte_at = [text](std::size_t at) { return text[at]; };
  std::int64_t seconds = 0;
  constexpr auto no_year = std::numeric_limits<std::int64_t>::min();
  TimeReader<std::size_t, decltype(byte_at)> reader(byte_at, 0, text.size(), no_year, false);
  return reader.read(seconds) == LineReason::used ? std::optional(seconds) : std::nullopt;
}

}  // namespace penstock
