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
  std::uint64_t key = 0;
  std::uint64_t number = 0;   ///< 0 if its field is no number. With a sign it is in two's complement.
  std::uint64_t stopped = 0;  ///< Where the last field that counts ends: no line ends before that.
  bool has_key = false;
  bool has_number = false;  ///< Only of decimal numbers.
};

/// A line as what it adds to its group, if numbers may have a sign.
constexpr LineGroup group_of(WalkedLine const& line, LineFields const& fields) noexcept {
  bool const negative = line.has_number && static_cast<std::int64_t>(line.number) < 0;
  return {.lines = 1,
          .sum = line.number,
          .high = has_decimals(fields) && negative ? -1 : 0,
          .without = has_decimals(fields) && !line.has_number ? std::uint64_t{1} : 0};
}

/// Takes what the field in [begin, end) says, which has no quotes around it and is the key, the number or both.
template <LineWalk how, class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void read_field(WalkedLine& line, bool is_key, bool is_number, ByteAt const& byte_at,
                                               Place begin, Place end, LineFields const& fields) {
  constexpr bool json = how == LineWalk::json;
  if (is_key && fields.group_seconds != 0) {
    std::int64_t seconds = 0;
    line.has_key = TimeReader<Place, ByteAt>(byte_at, begin, end).read(seconds) && seconds >= fields.first_second;
    if (line.has_key) line.key = static_cast<std::uint64_t>(seconds - fields.first_second) / fields.group_seconds;
    is_key = false;
  }
  if ((is_number && (json || fields.decimal)) || (is_key && json)) {
    FieldDecimal const decimal = decimal_in(byte_at, begin, end);
    std::int64_t value = 0;
    if (is_number) {
      line.has_number = decimal.scaled(fields.places, value);
      line.number = line.has_number ? static_cast<std::uint64_t>(value) : 0;
      is_number = false;
    }
    if (json && is_key) {
      line.has_key = decimal.scaled(0, value) && value >= 0;
      line.key = static_cast<std::uint64_t>(value);
    }
  }
  if (!json && (is_key || is_number)) {
    FieldNumber digits;
    for (Place k = begin; k < end; ++k) digits.take(byte_at(k));
    if (is_key) {
      line.has_key = digits.good();
      line.key = digits.value;
    }
    if (is_number && digits.good()) line.number = digits.value;
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
      if constexpr (how == LineWalk::digits) {
        FieldNumber number;
        for (Place k = field_begin; k < field_end; ++k) {
          char const byte = byte_at(k);
          if (fields.quote == 0 || byte != fields.quote) number.take(byte);
        }
        if (field == fields.key) {
          line.has_key = number.good();
          line.key = number.value;
        }
        if (field == fields.number && number.good()) line.number = number.value;
      } else {
        bool const in_quotes = fields.quote != 0 && field_end - field_begin >= 2 &&
                               byte_at(field_begin) == fields.quote && byte_at(field_end - 1) == fields.quote;
        Place const first = field_begin + (in_quotes ? 1 : 0), behind = field_end - (in_quotes ? 1 : 0);
        read_field<how>(line, field == fields.key, field == fields.number, byte_at, first, behind, fields);
      }
    }
    line.stopped = at;
    if (stop == '\n') break;
    field_begin = at + 1;
    ++field;
  }
  return line;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
