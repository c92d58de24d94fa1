// SPDX-License-Identifier: Apache-2.0
// The walk over a line's fields, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/access_log.hpp"
#include "kernels/lines/line_time.hpp"
#include "kernels/lines/line_values.hpp"
#include "penstock/lines.hpp"

namespace penstock {

/// Walk that a line needs. Each kernel is compiled for one of them.
enum class LineWalk : std::uint8_t {
  digits,  ///< Separated fields; key and number have digits only.
  values,  ///< Separated fields, of which the key may be a time and the number decimal.
  json,    ///< The members of an object, likewise.
};
constexpr LineWalk walk_of(LineFields const& fields) noexcept {
  if (fields.format == LineFormat::json) return LineWalk::json;
  return fields.decimal || fields.group_seconds != 0 ? LineWalk::values : LineWalk::digits;
}

/// Result of the walk over a line's fields.
struct WalkedLine {
  std::uint64_t key = 0;  ///< If key_reason is `outside`: the number of groups from the key up to the first one.
  /// 0 if its field is no number. If the number is negative, this is the number plus 2^64.
  std::uint64_t number = 0;
  std::uint64_t stopped = 0;  ///< End of the last field that counts: no line ends before that.
  LineReason key_reason = LineReason::no_field;
  LineReason number_reason = LineReason::no_field;
  bool negative = false;
  bool open_quote = false;  ///< The line ends within quotes. It is set only by walks that look for them.
  bool goes_on = false;     ///< JSON only: `stopped` is where another text of the line begins.

  PENSTOCK_WALKS_THERE constexpr bool has_key() const { return key_reason == LineReason::used; }
  PENSTOCK_WALKS_THERE constexpr bool has_number() const { return number_reason == LineReason::used; }
};

/// The group that one line makes by itself.
template <LineWalk how>
constexpr LineGroup group_of(WalkedLine const& line, LineFields const& fields) noexcept {
  return {.lines = 1,
          .sum = line.number,
          .high = line.negative ? -1 : 0,
          .without = how != LineWalk::digits && has_decimals(fields) && !line.has_number() ? std::uint64_t{1} : 0};
}

/// Result of a TimeReader for a text.
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

/// Takes the time in the field [begin, end), or at its begin, as the line's key.
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
/// Takes the decimal number in the field [begin, end) as the line's key, its number or both.
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

/// Takes the value of the field [begin, end), which has no quotes around it and is the key, the number or both. A time
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

/// True for the characters that may end a field or change the meaning of others.
PENSTOCK_WALKS_THERE constexpr bool is_stop(char byte, LineFields const& fields) {
  return byte == '\n' || byte == fields.separator || (byte == fields.quote && fields.quote != 0) ||
         (byte == fields.escape && fields.escape != 0) || (fields.brackets && (byte == '[' || byte == ']')) ||
         (byte == '\t' && fields.format == LineFormat::words);
}
/// True if a line break may be meant to be within quotes.
PENSTOCK_WALKS_THERE constexpr bool may_break_in_quotes(LineFields const& fields) {
  return fields.format == LineFormat::separated && fields.quote != 0 && fields.escape == 0;
}

/// True if two quotes side by side stand for one in a field in quotes. Access logs have escapes instead.
PENSTOCK_WALKS_THERE constexpr bool doubles_quotes(LineFields const& fields) {
  return fields.format != LineFormat::access_log;
}

/// The stops of a text one after the other, found by looking at each byte.
template <class Place, class ByteAt>
class EachStop {
 public:
  static constexpr bool watches_quotes = false;

  PENSTOCK_WALKS_THERE constexpr EachStop(ByteAt const& byte_at, Place begin, Place end, LineFields const& fields)
      : byte_at_(byte_at), at_(begin), end_(end), fields_(fields) {}

  PENSTOCK_WALKS_THERE constexpr Place next() {
    while (at_ < end_ && !is_stop(byte_at_(at_), fields_)) ++at_;
    return at_ < end_ ? at_++ : end_;
  }

 private:
  ByteAt const& byte_at_;
  Place at_;
  Place const end_;
  LineFields const& fields_;
};

/// Tells separators from other bytes of a field, as its stops come one after the other.
template <class Place>
class FieldQuotes {
 public:
  PENSTOCK_WALKS_THERE constexpr explicit FieldQuotes(Place end) : escaped_(end), closed_(end) {}

  /// True if this stop of the field that begins at `begin` ends it.
  PENSTOCK_WALKS_THERE constexpr bool ends(Place at, char stop, Place begin, LineFields const& fields) {
    if (at == escaped_) return false;
    if (quoted_) {
      if (stop == fields.escape && fields.escape != 0) {
        escaped_ = at + 1;
      } else if (stop == fields.quote) {
        quoted_ = false;
        closed_ = at + 1;
      }
      return false;
    }
    if (bracketed_) {
      bracketed_ = stop != ']';
      return false;
    }
    // Quotes and brackets elsewhere are ordinary characters.
    quoted_ = stop == fields.quote && fields.quote != 0 && (at == begin || (at == closed_ && doubles_quotes(fields)));
    bracketed_ = stop == '[' && fields.brackets && at == begin;
    return stop == fields.separator;
  }
  PENSTOCK_WALKS_THERE constexpr bool quoted() const { return quoted_; }

 private:
  Place escaped_, closed_;  ///< The places behind the last escape, and behind the last quote that closes.
  bool quoted_ = false, bracketed_ = false;
};

/// Walks over the fields of a line from the one that begins at `begin`, as far as they count. False if the line is of
/// an access log, and a field cannot be the one in its place. Otherwise it does what walk_line does.
template <LineWalk how, class Place, class Stops, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool walk_fields(WalkedLine& line, Stops& stops, ByteAt const& byte_at,
                                                std::uint32_t field, Place begin, Place end, LineFields const& fields) {
  bool const words = fields.format == LineFormat::words, log = fields.format == LineFormat::access_log;
  std::uint32_t last = fields.key > fields.number ? fields.key : fields.number;
  if (log && last < log_bytes) last = log_bytes;
  FieldQuotes<Place> quotes(end);
  for (Place field_begin = begin;;) {
    if (field > last) {
      if constexpr (Stops::watches_quotes) {
        if (!may_break_in_quotes(fields)) return true;
        Place const ahead = stops.quote_or_newline(field_begin);
        if (ahead == end) line.stopped = end;
        if (ahead == end || byte_at(ahead) == '\n') return true;
      } else {
        return true;
      }
    }
    Place const at = stops.next();
    bool const ends_line = at == end || byte_at(at) == '\n';
    if (!ends_line && !words && !quotes.ends(at, byte_at(at), field_begin, fields)) continue;
    if (words) {
      while (field_begin < at && (byte_at(field_begin) == ' ' || byte_at(field_begin) == '\t')) ++field_begin;
      if (field_begin == at && !ends_line) {
        field_begin = at + 1;
        continue;
      }
    }
    bool const without_last = ends_line && at != field_begin && byte_at(at - 1) == '\r';
    Place const field_end = at - (without_last ? 1 : 0);
    if (log && !is_log_field(field, byte_at, field_begin, field_end)) return false;
    if ((field == fields.key || field == fields.number) && !(words && field_begin == field_end)) {
      bool const in_quotes = fields.quote != 0 && field_end - field_begin >= 2 &&
                             byte_at(field_begin) == fields.quote && byte_at(field_end - 1) == fields.quote;
      Place const first = field_begin + (in_quotes ? 1 : 0), behind = field_end - (in_quotes ? 1 : 0);
      // Times have blanks in them.
      Place const far = fields.separator == ' ' && !in_quotes ? end : behind;
      read_field<how>(line, field == fields.key, field == fields.number, byte_at, first, behind, far, fields);
    }
    if (line.stopped < at) line.stopped = at;
    if (ends_line) {
      line.open_quote = quotes.quoted() && may_break_in_quotes(fields);
      return !log || field >= log_status;
    }
    field_begin = at + 1;
    ++field;
  }
}

/// Does what walk_line does for a line of an access log in which not all fields are in their places.
template <LineWalk how, class Place, class ByteAt>
PENSTOCK_WALKS_APART constexpr WalkedLine walk_shifted(ByteAt const& byte_at, Place begin, Place end,
                                                       LineFields const& fields) {
  WalkedLine line;
  LogParts<Place, ByteAt> const parts(byte_at, begin, end);
  if (!parts.found || fields.key < log_status) line.key_reason = LineReason::shifted;
  if (!parts.found || fields.number < log_status) line.number_reason = LineReason::shifted;
  if (parts.found) {
    if (fields.key == log_time)
      read_field<how>(line, true, false, byte_at, parts.time_begin, parts.time_end, parts.time_end, fields);
    EachStop<Place, ByteAt> stops(byte_at, parts.status, end, fields);
    walk_fields<how>(line, stops, byte_at, log_status, parts.status, end, fields);
  }
  line.stopped = parts.line_end;
  return line;
}

/// Walks over the fields of the line that begins at `begin`, as far as they count. `stops.next()` is the next stop from
/// `begin` on; `end` if there is none before it. `byte_at(i)` is the byte at that place. If stops watch quotes, the
/// walk also finds if the line ends within quotes; `stops.quote_or_newline(at)` is then the place of the next quote or
/// newline.
template <LineWalk how, class Place, class Stops, class ByteAt>
PENSTOCK_WALKS_THERE constexpr WalkedLine walk_line(Stops& stops, ByteAt const& byte_at, Place begin, Place end,
                                                    LineFields const& fields) {
  WalkedLine line;
  if (walk_fields<how>(line, stops, byte_at, 0, begin, end, fields)) return line;
  return walk_shifted<how>(byte_at, begin, end, fields);
}

}  // namespace penstock
