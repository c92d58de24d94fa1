// SPDX-License-Identifier: Apache-2.0
// The walk over the members of a line that is a JSON object, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"
#include "penstock/kernels/line_walk.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// True for the characters that begin, end or divide members.
PENSTOCK_WALKS_THERE constexpr bool is_json_stop(char byte) {
  auto const folded = static_cast<char>(static_cast<unsigned char>(byte) | 0x20U);  // '[' is as '{' then.
  return folded == '{' || folded == '}' || byte == ',' || byte == ':';
}

/// Which of some bytes are of a kind: a bit for each of them, the lowest for the first.
template <class Word>
struct JsonMarks {
  Word quotes, escapes, stops, newlines;
};

/// Tells stops from characters of strings. It is given the bytes of a line in their order.
template <class Word>
class JsonStrings {
 public:
  /// The stops outside of strings, and the ends of lines wherever they are.
  PENSTOCK_WALKS_THERE constexpr Word stops(JsonMarks<Word> const& marks) {
    constexpr unsigned top = sizeof(Word) * 8 - 1;
    Word escaped = escaped_ ? 1 : 0;
    escaped_ = false;
    for (Word left = marks.escapes & ~escaped; left != 0;) {
      Word const one = left & (~left + 1);
      Word const next = one << 1U;
      escaped_ = (one >> top) != 0;
      escaped |= next;
      left &= ~(one | next);
    }
    // A byte is in a string if the number of quotes up to it is odd.
    Word inside = marks.quotes & ~escaped;
    for (unsigned shift = 1; shift <= top; shift *= 2) inside ^= inside << shift;
    if (in_string_) inside = ~inside;
    in_string_ = (inside >> top) != 0;
    return (marks.stops & ~inside) | marks.newlines;
  }

 private:
  bool in_string_ = false;
  bool escaped_ = false;  ///< The next byte is.
};

template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void skip_blanks(ByteAt const& byte_at, Place& begin, Place& end) {
  auto const blank = [](char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; };
  while (begin < end && blank(byte_at(begin))) ++begin;
  while (begin < end && blank(byte_at(end - 1))) --end;
}
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool is_blank(ByteAt const& byte_at, Place begin, Place end) {
  skip_blanks(byte_at, begin, end);
  return begin == end;
}
/// Takes the quotes from around a string, and returns whether there were any.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool take_quotes(ByteAt const& byte_at, Place& begin, Place& end) {
  if (end - begin < 2 || byte_at(begin) != '"' || byte_at(end - 1) != '"') return false;
  ++begin;
  --end;
  return true;
}

/// Compares a string with a name, byte by byte as the string goes on.
template <class Place, class ByteAt>
class NameMatch {
 public:
  PENSTOCK_WALKS_THERE constexpr NameMatch(LineName const& name, ByteAt const& byte_at)
      : name_(name), byte_at_(byte_at) {}

  /// True if the string in [begin, end), with escapes or without, is the name.
  PENSTOCK_WALKS_THERE constexpr bool is_at(Place begin, Place end) {
    if (name_.size == 0 || end - begin < name_.size) return false;
    for (Place at = begin; at < end;) {
      char const byte = byte_at_(at++);
      if (byte != '\\' ? !takes(byte) : !takes_escape(at, end)) return false;
    }
    return taken_ == name_.size;
  }

 private:
  PENSTOCK_WALKS_THERE constexpr bool takes(char byte) { return taken_ < name_.size && name_.bytes[taken_++] == byte; }
  PENSTOCK_WALKS_THERE constexpr bool takes_escape(Place& at, Place end) {
    if (at == end) return false;
    char const kind = byte_at_(at++);
    if (kind == 'u') return takes_character(at, end);
    if (kind == 'b') return takes('\b');
    if (kind == 'f') return takes('\f');
    if (kind == 'n') return takes('\n');
    if (kind == 'r') return takes('\r');
    if (kind == 't') return takes('\t');
    return (kind == '"' || kind == '\\' || kind == '/') && takes(kind);
  }
  /// Four hexadecimal digits, or twice so many if the first are half of a pair; half of one is U+FFFD.
  PENSTOCK_WALKS_THERE constexpr bool takes_character(Place& at, Place end) {
    std::uint32_t unit = 0;
    if (!hexadecimal(at, end, unit)) return false;
    if (unit >= 0xD800 && unit < 0xDC00 && end - at >= 6 && byte_at_(at) == '\\' && byte_at_(at + 1) == 'u') {
      Place behind = at + 2;
      std::uint32_t second = 0;
      if (!hexadecimal(behind, end, second)) return false;
      if (second >= 0xDC00 && second < 0xE000) {
        at = behind;
        unit = 0x10000 + ((unit - 0xD800) << 10U) + (second - 0xDC00);
      }
    }
    if (unit >= 0xD800 && unit < 0xE000) unit = 0xFFFD;
    auto const part = [&](unsigned shift) { return static_cast<char>(0x80U | (unit >> shift & 0x3FU)); };
    if (unit < 0x80) return takes(static_cast<char>(unit));
    if (unit < 0x800) return takes(static_cast<char>(0xC0U | unit >> 6U)) && takes(part(0));
    if (unit < 0x10000) return takes(static_cast<char>(0xE0U | unit >> 12U)) && takes(part(6)) && takes(part(0));
    return takes(static_cast<char>(0xF0U | unit >> 18U)) && takes(part(12)) && takes(part(6)) && takes(part(0));
  }
  PENSTOCK_WALKS_THERE constexpr bool hexadecimal(Place& at, Place end, std::uint32_t& to) const {
    if (end - at < 4) return false;
    for (unsigned k = 0; k < 4; ++k) {
      char const byte = byte_at_(at++);
      auto const letter = static_cast<unsigned>(static_cast<unsigned char>(byte) | 0x20U) - unsigned{'a'};
      unsigned const digit = digit_of(byte);
      if (digit > 9 && letter > 5) return false;
      to = to * 16 + (digit <= 9 ? digit : letter + 10);
    }
    return true;
  }

  LineName const& name_;
  ByteAt const& byte_at_;
  unsigned taken_ = 0;
};

/// Walks over the members of the object that begins at `begin`, up to the end of its line. `stops.next()` is where the
/// next stop outside of strings is, or the end of the line; `end` if there is none before it.
template <class Place, class Stops, class ByteAt>
PENSTOCK_WALKS_THERE constexpr WalkedLine walk_json_line(Stops& stops, ByteAt const& byte_at, Place begin, Place end,
                                                         LineFields const& fields) {
  WalkedLine line;
  Place from = begin;  // Behind the last stop, apart from those inside of values.
  std::uint64_t depth = 0;
  bool is_key = false, is_number = false;  // The member that the walk is in.
  bool named = false, nested = false;      // It has a name; its value is an array or an object.
  bool closed = false, has_members = false, wrong = false;
  for (;;) {
    Place const at = stops.next();
    char const stop = at == end ? '\n' : byte_at(at);
    if (stop == '\n') {
      wrong = wrong || !closed || !is_blank(byte_at, from, at);
      line.stopped = at;
      break;
    }
    bool const opens = stop == '{' || stop == '[', closes = stop == '}' || stop == ']';
    if (depth > 1) {
      depth = opens ? depth + 1 : closes ? depth - 1 : depth;
      from = at + 1;
      continue;
    }
    if (opens) {
      wrong = wrong || !is_blank(byte_at, from, at) || (depth == 0 ? closed || stop != '{' : !named || nested);
      nested = depth == 1;
      ++depth;
    } else if (depth == 0) {
      wrong = true;
    } else if (stop == ':') {
      Place name = from, behind = at;
      skip_blanks(byte_at, name, behind);
      wrong = wrong || named || !take_quotes(byte_at, name, behind);
      named = true;
      is_key = NameMatch<Place, ByteAt>(fields.key_name, byte_at).is_at(name, behind);
      is_number = NameMatch<Place, ByteAt>(fields.number_name, byte_at).is_at(name, behind);
    } else {
      if (named && nested) {
        wrong = wrong || !is_blank(byte_at, from, at);
      } else if (!named) {  // Nothing is between the braces.
        wrong = wrong || stop == ',' || has_members || !is_blank(byte_at, from, at);
      }
      if (is_key || is_number) {
        Place value = from, behind = nested ? from : at;
        skip_blanks(byte_at, value, behind);
        static_cast<void>(take_quotes(byte_at, value, behind));
        read_field<LineWalk::json>(line, is_key, is_number, byte_at, value, behind, fields);
      }
      wrong = wrong || stop == ']';
      if (closes) {
        depth = 0;
        closed = true;
      }
      has_members = true;
      named = nested = is_key = is_number = false;
    }
    from = at + 1;
  }
  if (wrong) line.has_key = line.has_number = false;
  if (!line.has_number) line.number = 0;
  return line;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
