// SPDX-License-Identifier: Apache-2.0
// The walk over a line's fields, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"
#include "penstock/kernels/line_time.hpp"
#include "penstock/kernels/line_values.hpp"
#include "penstock/line_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Which walk a line needs. Each kernel is compiled for one of them.
enum class LineWalk : std::uint8_t {
  digits,  ///< Separated fields; key and number have digits only.
  values,  ///< Separated fields, of which the key may be a time and the number decimal.
  json,    ///< The members of an object, likewise.
};
constexpr LineWalk walk_of(LineFields const& fields) noexcept {
  if (fields.format == LineFormat::json) return LineWalk::json;
  return fields.decimal || fields.group_seconds != 0 ? LineWalk::values : LineWalk::digits;
}

/// What is known of a line once its fields were walked over.
struct WalkedLine {
  std::uint64_t key = 0;  ///< If key_reason is `outside`: so many groups before the first one.
  /// 0 if its field is no number. If that is negative, so is 2^64 less than this.
  std::uint64_t number = 0;
  std::uint64_t stopped = 0;  ///< Where the last field that counts ends: no line ends before that.
  LineReason key_reason = LineReason::no_field;
  LineReason number_reason = LineReason::no_field;
  bool negative = false;
  bool goes_on = false;  ///< With JSON: `stopped` is where another text of the line begins.

  PENSTOCK_WALKS_THERE constexpr bool has_key() const { return key_reason == LineReason::used; }
  PENSTOCK_WALKS_THERE constexpr bool has_number() const { return number_reason == LineReason::used; }
};

/// A line as what it adds to its group.
template <LineWalk how>
constexpr LineGroup group_of(WalkedLine const& line, LineFields const& fields) noexcept {
  return {.lines = 1,
          .sum = line.number,
          .high = line.negative ? -1 : 0,
          .without = how != LineWalk::digits && has_decimals(fields) && !line.has_number() ? std::uint64_t{1} : 0};
}

/// What a TimeReader makes of a text.
struct TimeRead {
  LineReason reason;
  std::int64_t seconds;
  std::uint64_t stopped;
};
template <class ByteAt>
PENSTOCK_WALKS_APART constexpr TimeRead read_time_in(ByteAt bytes, std::uint64_t begin, std::uint64_t end,
                                                     std::int64_t from, bool goes_on) {
  TimeReader<std::uint64_t, ByteAt> reader(bytes, begin, end, from, goes_on);
  TimeRead time{};
  time.reason = reader.read(time.seconds);
  time.stopped = reader.stopped();
  return time;
}

/// Takes the time that the field in [begin, end) is, or begins, as the line's key.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void read_time(WalkedLine& line, ByteAt const& byte_at, Place begin, Place end,
                                              Place far, LineFields const& fields) {
  if (is_empty(byte_at, begin, end)) {
    line.key_reason = LineReason::empty;
    return;
  }
  auto const [reason, seconds, stopped] = read_time_in(byte_at, begin, far, fields.first_second, far != end);
  line.key_reason = reason;
  line.stopped = stopped;
  if (!line.has_key()) return;
  if (seconds >= fields.first_second) {
    line.key = static_cast<std::uint64_t>(seconds - fields.first_second) / fields.group_seconds;
  } else {
    line.key_reason = LineReason::outside;
    line.key = static_cast<std::uint64_t>(fields.first_second - seconds - 1) / fields.group_seconds + 1;
  }
}
/// Takes the decimal number that the field in [begin, end) is as the line's key, its number or both.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void read_decimal(WalkedLine& line, bool is_key, bool is_number, ByteAt const& byte_at,
                                                 Place begin, Place end, LineFields const& fields) {
  bool const empty = is_empty(byte_at, begin, end);
  FieldDecimal const decimal = decimal_in(byte_at, begin, end);
  if (is_number) {
    std::uint64_t units = 0;
    line.number_reason = empty ? LineReason::empty : decimal.scaled(fields.places, units);
    line.negative = line.has_number() && decimal.negative();
    line.number = !line.has_number() ? 0 : line.negative ? ~units + 1 : units;
  }
  if (is_key) {
    line.key_reason = empty ? LineReason::empty : decimal.scaled(0, line.key);
    if (line.has_key() && decimal.negative()) {
      line.key_reason = LineReason::outside;
      line.key = 0;
    }
  }
}

/// Takes what the field in [begin, end) says, which has no quotes around it and is the key, the number or both. A time
/// may go on up to `far`.
template <LineWalk how, class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void read_field(WalkedLine& line, bool is_key, bool is_number, ByteAt const& byte_at,
                                               Place begin, Place end, Place far, LineFields const& fields) {
  constexpr bool json = how == LineWalk::json;
  if constexpr (how != LineWalk::digits) {
    if (is_key && fields.group_seconds != 0) {
      read_time(line, byte_at, begin, end, far, fields);
      is_key = false;
    }
    bool const decimal = is_number && (json || fields.decimal);
    if (decimal || (is_key && json)) {
      read_decimal(line, is_key && json, decimal, byte_at, begin, end, fields);
      is_key = is_key && !json;
      is_number = is_number && !decimal;
    }
  }
  if (!json && (is_key || is_number)) {
    std::uint64_t value = 0;
    LineReason const reason = digits_in(byte_at, begin, end, value);
    if (is_key) {
      line.key_reason = reason;
      line.key = value;
    }
    if (is_number) {
      line.number_reason = reason;
      line.number = reason == LineReason::used ? value : 0;
    }
  }
}

/// True for the characters that may end a field or change what others mean.
PENSTOCK_WALKS_THERE constexpr bool is_stop(char byte, LineFields const& fields) {
  return byte == '\n' || byte == fields.separator || (byte == fields.quote && fields.quote != 0) ||
         (byte == fields.escape && fields.escape != 0) || (fields.brackets && (byte == '[' || byte == ']'));
}

/// Walks over the fields of the line that begins at `begin`, as far as they count. `stops.next()` is where the next
/// stop is, from `begin` on; `end` if there is none before it. `byte_at(i)` is the byte there.
template <LineWalk how, class Place, class Stops, class ByteAt>
PENSTOCK_WALKS_THERE constexpr WalkedLine walk_line(Stops& stops, ByteAt const& byte_at, Place begin, Place end,
                                                    LineFields const& fields) {
  WalkedLine line;
  std::uint32_t const last = fields.key > fields.number ? fields.key : fields.number;
  Place field_begin = begin;
  Place escaped = end;
  bool quoted = false, bracketed = false;
  for (std::uint32_t field = 0; field <= last;) {
    Place const at = stops.next();
    char const stop = at == end ? '\n' : byte_at(at);
    if (stop != '\n') {
      if (at == escaped) continue;
      if (quoted && fields.escape != 0 && stop == fields.escape) {
        escaped = at + 1;
        continue;
      }
      if (!bracketed && fields.quote != 0 && stop == fields.quote) {
        quoted = !quoted;
        continue;
      }
      if (!quoted && fields.brackets && (stop == '[' || stop == ']')) bracketed = stop == '[';
      if (quoted || bracketed || stop != fields.separator) continue;
    }
    if (field == fields.key || field == fields.number) {
      bool const without_last = stop == '\n' && at != field_begin && byte_at(at - 1) == '\r';
      Place const field_end = at - (without_last ? 1 : 0);
      bool const in_quotes = fields.quote != 0 && field_end - field_begin >= 2 &&
                             byte_at(field_begin) == fields.quote && byte_at(field_end - 1) == fields.quote;
      Place const first = field_begin + (in_quotes ? 1 : 0), behind = field_end - (in_quotes ? 1 : 0);
      // Times have blanks in them.
      Place const far = fields.separator == ' ' && !in_quotes ? end : behind;
      read_field<how>(line, field == fields.key, field == fields.number, byte_at, first, behind, far, fields);
    }
    if (line.stopped < at) line.stopped = at;
    if (stop == '\n') break;
    field_begin = at + 1;
    ++field;
  }
  return line;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
