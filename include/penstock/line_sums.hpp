// SPDX-License-Identifier: Apache-2.0
// Lines of text, grouped by the number or the time in one field, and the sums of the numbers in another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "penstock/line_reasons.hpp"
#include "penstock/stream.hpp"

#if defined(PENSTOCK_PER_THREAD) || defined(PENSTOCK_LEGACY) || !defined(PENSTOCK_NO_FLAVOUR)
#include "penstock/flavour.hpp"
#endif

namespace penstock {

/// What a line is made of.
enum class LineFormat : std::uint8_t {
  separated,   ///< Fields with a separator between two of them. They have numbers.
  words,       ///< Fields with blanks or tabs between two of them, as many as there are, as awk has them.
  access_log,  ///< "%h %l %u [%t] \"%r\" %>s %b ...", also with other fields in front of the time.
  json,        ///< The members of JSON objects. They have names.
};

/// The name of a member of a JSON object, or names with dots between them, as sum_lines has it; empty: of none.
struct LineName {
  static constexpr std::size_t most_bytes = 63;

  LineName() = default;
  /// Throws: Error of kind bad_argument, if it has more than `most_bytes` bytes.
  explicit LineName(std::string_view name);

  char bytes[most_bytes] = {};
  std::uint8_t size = 0;
};

/// How the fields of a line are found, and which of them count.
struct LineFields {
  char separator = ' ';
  /// In a field that begins with one, a separator is a part of it up to the next one; two side by side are none. 0:
  /// there is none.
  char quote = '"';
  char escape = 0;           ///< Between quotes, the character behind this one is no quote. 0: there is none.
  bool brackets = false;     ///< In a field that begins with '[', a separator is a part of it up to the next ']'.
  std::uint32_t key = 0;     ///< The field that says which group the line is in. Fields are numbered from 0.
  std::uint32_t number = 1;  ///< The field that is added up.
  /// Only with `separated` the first four members are used, and with `json` none of those above.
  LineFormat format = LineFormat::separated;
  LineName key_name = {}, number_name = {};  ///< With `json`, the members of the object that count.
  /// The number may have a sign, a point and an exponent. With `json` it may in any case.
  bool decimal = false;
  std::uint32_t places = 0;  ///< Of decimal numbers: sums count in units of 10^-places. At most 18.
  /// 0: the key is the number of the group. Otherwise it is a time, and each group has so many seconds.
  std::uint32_t group_seconds = 0;
  std::int64_t first_second = 0;  ///< Group 0 begins here: seconds since the beginning of 1970, UTC.
};
/// Fields of an access log are numbered so: 3 is the time, 4 the request, 5 the status, 6 the bytes. Those in front of
/// the time count only if they are three; if they are not, and if a request has quotes without escapes, the others are
/// found all the same. A line without a time and a request, or without a status of three digits, is in the last group.
///
/// Source: Apache HTTP Server, Log Files; the format is called common, or combined.
inline constexpr LineFields access_log_fields{.key = 5, .number = 6, .format = LineFormat::access_log};
/// The field of an access log with the time.
inline constexpr std::uint32_t access_log_time = 3;

/// True if numbers may have a sign, a point and an exponent.
constexpr bool has_decimals(LineFields const& fields) noexcept {
  return fields.decimal || fields.format == LineFormat::json;
}

/// One group: the same on host and GPU.
struct LineGroup {
  std::uint64_t lines = 0;
  std::uint64_t sum = 0;      ///< The lower half of 128 bits in two's complement.
  std::int64_t high = 0;      ///< The upper half.
  std::uint64_t without = 0;  ///< Of decimal numbers: so many of the lines had none that could be added.

  /// Sums stay exact: a number has at most 64 bits and a sign, so 2^63 lines do not overflow them.
  constexpr LineGroup& operator+=(LineGroup const& other) noexcept {
    lines += other.lines;
    sum += other.sum;
    high += other.high + (sum < other.sum ? 1 : 0);
    without += other.without;
    return *this;
  }
  friend bool operator==(LineGroup const&, LineGroup const&) = default;
};

/// The sum as decimal digits, with `fields.places` of them behind a point if numbers are decimal.
///
/// Threads: any.
std::string sum_text(LineGroup const& group, LineFields const& fields);
/// What the group with this number is called: its number, or the time at which it begins, as "2015-05-17T10:05:00Z".
///
/// Threads: any.
std::string group_name(std::size_t group, LineFields const& fields);

/// The time that a text is, in seconds since the beginning of 1970, UTC; a fraction of a second is cut off. It reads
/// times as sum_lines does, but none without a year.
///
/// Threads: any.
std::optional<std::int64_t> time_of_text(std::string_view text);

/// So many groups there can be.
inline constexpr std::size_t most_line_groups = 4096;
/// So many places behind the point sums can have.
inline constexpr std::uint32_t most_line_places = 18;

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// Adds the lines of each input to `groups`: group g has the lines whose key is g, and the last group all others. The
/// last line of an input may lack its "\n". A "\r" before the "\n" belongs to no field. On a GPU all inputs are looked
/// at by one kernel, or by one for each 32 of them.
///
/// A number is a field of decimal digits, which may be in quotes; a field that is no such number, or larger than 64
/// bits, adds 0. A decimal number is as "-3", "2.50" or "1e3". It is added exactly or not at all: it is left out, and
/// counted as LineGroup::without, if its value in units of 10^-places is no whole number, or larger than 2^64 - 1.
/// `reasons` counts the lines whose key or number could not be used.
///
/// A time is of one of these kinds, and may be in brackets. AM, PM, and an offset or a name of a zone that means one
/// thing may be behind it; else it is UTC. A fraction of a second is cut off. A date that no calendar has is no time. A
/// leap second is in the minute that it ends.
///
///     17/May/2015:10:05:03 +0200              logs of web servers
///     2015-05-17T10:05:03.25+02:00            ISO 8601 and RFC 3339. " ", "t", "z" and " UTC" may be there; the time
///     2015/05/17 10:05:03                     of day, seconds, fraction and offset may be missing
///     20150517T100503Z, 20150517100503        the same, compact: eight digits are a date; so are 14 with a time,
///                                             and 12 of the years 1900 to 2199
///     Sun May 17 10:05:03.123 2015            ctime, error logs of Apache
///     Sun, 17 May 2015 10:05:03 GMT           RFC 1123; also 17 May 2015, 17-May-15, and May 17, 2015
///     May  7 10:05:03                         syslog: the first such time from first_second on
///     1431857103, 1431857103.25               seconds since 1970, or by size milliseconds (from 315532800000 on),
///                                             microseconds or nanoseconds (three and six more digits)
///
/// With a blank as the separator a time begins in its field, and goes on in those behind it. Times are in the years 0
/// to 9999.
///
/// A line with the format `json` has objects, one behind the other, each of which counts as a line. Of members with the
/// same name the last one counts. A name with a dot, "a.b", is that of a member, or of a member "b" of a member "a". A
/// number or a time may be in quotes, without escapes. An object whose strings, brackets or names do not fit together
/// is in the last group, and has no number. What is inside of other values is not checked.
///
/// With `literals`, which is Literals::table(), only lines count that have one of them; of the others nothing is added.
///
/// Shape:   memory of the stream's device, or mapped; `groups` has 2 to 4096 elements, `reasons` one or none.
///          `literals` is empty, or begins at a multiple of 8.
/// Threads: any; other calls may add to the same groups and reasons meanwhile.
/// Blocks:  never; `groups` and `reasons` are valid once `stream` has passed this call.
/// Throws:  Error, if the number of groups does not fit or the launch is refused. On the CPU device a launch may
///          allocate.
void sum_lines(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
               DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons,
               StreamRef stream, unsigned multiprocessors = 0);
/// The same of all lines of one input, without reasons.
inline void sum_lines(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
                      StreamRef stream, unsigned multiprocessors = 0) {
  sum_lines(std::span(&input, 1), fields, {}, groups, {}, stream, multiprocessors);
}

/// The first time of a text.
struct FirstTime {
  std::optional<std::int64_t> seconds = {};  ///< Since the beginning of 1970, UTC. Nothing: no line has a whole one.
  bool without_year = false;                 ///< A line before it has a time without a year.
};
/// The time of the first of these lines that has one in the key's field.
///
/// Threads: any.
FirstTime first_time(std::string_view text, LineFields fields);

/// Loads the kernels, as blake3_prepare does.
void sum_lines_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
