// SPDX-License-Identifier: Apache-2.0
// Lines of text: many strings found at once; lines grouped by the number or the time in one field, and the sums of the
// numbers in another, with the reasons why keys and numbers could not be used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/stream.hpp"

namespace penstock {

/// A set of strings, as a table that kernels search: the same bytes on the host and on a GPU. The search time does not
/// grow for strings that are much alike.
///
/// Threads: any, once it is made.
class Literals {
 public:
  /// Maximum number of bytes of all strings together.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;

  /// Equal strings count once. `sample` is a part of the texts that will be searched, some 100 KB of it: parts of the
  /// strings that it often has are not those looked for. It changes the time of a search, not what is found.
  ///
  /// Throws: Error of kind bad_argument, if there are none, if one is empty or has a "\n" in it, or if they are too
  ///         long.
  explicit Literals(std::span<std::string const> texts, std::string_view sample = {});

  /// The table, to be uploaded unchanged to an address that is a multiple of 8. Strings that contain another one are
  /// not in it: a text that has one of them has the other one.
  std::span<std::byte const> table() const noexcept { return std::as_bytes(std::span(table_)); }
  /// Number of different strings that were given.
  std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::uint64_t> table_;
  std::size_t size_ = 0;
};

/// The lines of a text as literals, without their line ends.
///
/// Throws: as Literals; the error for an empty line states its number.
Literals literals_of_lines(std::string const& text, std::string_view sample = {});

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

/// Structure of a line.
enum class LineFormat : std::uint8_t {
  separated,   ///< Numbered fields with one separator between two of them.
  words,       ///< Fields with any number of blanks or tabs between them, as in awk.
  access_log,  ///< "%h %l %u [%t] \"%r\" %>s %b ...", also with other fields in front of the time.
  json,        ///< The members of JSON objects. They have names.
};

/// The name of a member of a JSON object, or names with dots between them, as sum_lines expects it; empty: no member.
struct LineName {
  static constexpr std::size_t most_bytes = 63;

  LineName() = default;
  /// Throws: Error of kind bad_argument, if it has more than `most_bytes` bytes.
  explicit LineName(std::string_view name);

  char bytes[most_bytes] = {};
  std::uint8_t size = 0;
};

/// The way to find the fields of a line, and the fields that count.
struct LineFields {
  char separator = ' ';
  /// Quote character: within a field that begins with it, separators up to the next one are part of the field; two in a
  /// row within it are part of it. 0: none.
  char quote = '"';
  char escape = 0;           ///< Escape character: between quotes, the character behind it is no quote. 0: none.
  bool brackets = false;     ///< True: in a field that begins with '[', separators up to the next ']' are part of the
                             /// field.
  std::uint32_t key = 0;     ///< Number of the field that determines the line's group. Fields are numbered from 0.
  std::uint32_t number = 1;  ///< The field that is added up.
  /// The first four members are used only with `separated`; `json` uses none of the members above.
  LineFormat format = LineFormat::separated;
  LineName key_name = {}, number_name = {};  ///< Members of the object that count; `json` only.
  /// True: the number may have a sign, a point and an exponent. With `json` it always may.
  bool decimal = false;
  std::uint32_t places = 0;  ///< Decimals of the sums: they count in units of 10^-places. At most 18.
  /// Length of a group's time span in seconds, if the key is a time; 0: the key is the number of the group.
  std::uint32_t group_seconds = 0;
  std::int64_t first_second = 0;  ///< Beginning of group 0: seconds since the beginning of 1970, UTC.
};
/// Field numbers of an access log: 3 is the time, 4 the request, 5 the status, 6 the bytes. The fields in front of the
/// time can be used only if there are three of them. If not, or if a request has quotes without escapes, the other
/// fields are still found. A line without a time and a request, or without a status of three digits, is in the last
/// group.
///
/// Source: Apache HTTP Server, Log Files; the format is called common, or combined.
inline constexpr LineFields access_log_fields{.key = 5, .number = 6, .format = LineFormat::access_log};
/// Number of the time's field in an access log.
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
  std::uint64_t without = 0;  ///< Lines whose decimal could not be added.

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
/// Name of the group with this number: the number, or the time at which it begins, as "2015-05-17T10:05:00Z".
///
/// Threads: any.
std::string group_name(std::size_t group, LineFields const& fields);

/// The time that a text states, in seconds since the beginning of 1970, UTC; a fraction of a second is cut off. It
/// accepts the same times as sum_lines, except those without a year.
///
/// Threads: any.
std::optional<std::int64_t> time_of_text(std::string_view text);

/// Maximum number of groups.
inline constexpr std::size_t most_line_groups = 4096;
/// Maximum number of decimals of a sum.
inline constexpr std::uint32_t most_line_places = 18;

/// Adds the lines of each input to `groups`: group g has the lines whose key is g, and the last group all others. The
/// last line of an input may lack its "\n". A "\r" before the "\n" belongs to no field. On a GPU one kernel processes
/// up to 32 inputs.
///
/// A number is a field of decimal digits, which may be in quotes; a field that is no such number, or larger than 64
/// bits, adds 0. A decimal number is as "-3", "2.50" or "1e3". It is added exactly or not at all: it is left out, and
/// counted as LineGroup::without, if its value in units of 10^-places is no whole number, or larger than 2^64 - 1.
/// `reasons` counts the lines whose key or number could not be used.
///
/// A time has one of these forms, and may be in brackets. AM, PM, and an offset or an unambiguous zone name may follow;
/// without a zone it is UTC. A fraction of a second is cut off. A date that no calendar has is no time. A leap second
/// belongs to the minute that it ends.
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
/// If the separator is a blank, a time begins in its field and continues in the fields behind it. Times are in the
/// years 0 to 9999.
///
/// A line with the format `json` has one or more objects in a row, each of which counts as a line. Of members with the
/// same name the last one counts. A name with a dot, "a.b", is that of a member, or of a member "b" of a member "a". A
/// number or a time may be in quotes, without escapes. An object whose strings, brackets or names do not match is in
/// the last group, and has no number. The inside of other values is not checked.
///
/// If `literals` is given, which is Literals::table(), only lines that contain one of them count; nothing is added for
/// the others.
///
/// Shape:   memory of the stream's device, or mapped; `groups` has 2 to 4096 elements, `reasons` one or none.
///          `literals` is empty, or begins at a multiple of 8.
/// Threads: any; other calls may add to the same groups and reasons at the same time.
/// Blocks:  never; `groups` and `reasons` are valid once `stream` has passed this call.
/// Throws:  Error, if the number of groups does not fit or the launch is refused. On the CPU device a launch may
///          allocate.
void sum_lines(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
               DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons,
               StreamRef stream, unsigned multiprocessors = 0);
/// The same for all lines of one input, without reasons.
inline void sum_lines(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
                      StreamRef stream, unsigned multiprocessors = 0) {
  sum_lines(std::span(&input, 1), fields, {}, groups, {}, stream, multiprocessors);
}

/// The first time of a text.
struct FirstTime {
  std::optional<std::int64_t> seconds = {};  ///< Seconds since the beginning of 1970, UTC. Nothing: no line has a
                                             /// complete time.
  bool without_year = false;                 ///< A line before it has a time without a year.
};
/// The time of the first of these lines that has one in the key's field.
///
/// Threads: any.
FirstTime first_time(std::string_view text, LineFields fields);

/// Loads the kernels, as blake3_prepare does.
void sum_lines_prepare(StreamRef stream);

}  // namespace penstock
