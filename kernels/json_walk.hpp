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
    if (char const first = byte_at_(begin); first != name_.bytes[0] && first != '\\') return false;
    return goes_on(begin, end);
  }

 private:
  PENSTOCK_WALKS_THERE constexpr bool goes_on(Place begin, Place end) {
    for (Place at = begin; at < end;) {
      char const byte = byte_at_(at++);
      if (byte != '\\' ? !takes(byte) : !takes_escape(at, end)) return false;
    }
    return taken_ == name_.size;
  }
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

/// Walks over the members of one line that is an object.
template <class Place, class Stops, class ByteAt>
class JsonWalk {
 public:
  /// The line begins at `begin`. `stops.next()` is where the next stop outside of strings is, or the end of the line;
  /// `end` if there is none before it.
  PENSTOCK_WALKS_THERE constexpr JsonWalk(Stops const& stops, ByteAt const& byte_at, Place begin, Place end,
                                          LineFields const& fields)
      : stops_(stops), byte_at_(byte_at), end_(end), from_(begin), fields_(fields) {}

  PENSTOCK_WALKS_THERE constexpr WalkedLine walk() {
    bool good = object();
    while (stop_ != '\n') {
      step();
      good = good && stop_ == '\n' && is_blank(byte_at_, from_, at_);
    }
    if (!good) {
      line_.key_reason = line_.number_reason = LineReason::broken;
      line_.number = 0;
      line_.negative = false;
    }
    line_.stopped = at_;
    return line_;
  }

 private:
  /// Goes to the next stop.
  PENSTOCK_WALKS_THERE constexpr void step() {
    at_ = stops_.next();
    stop_ = at_ == end_ ? '\n' : byte_at_(at_);
  }
  PENSTOCK_WALKS_THERE constexpr bool opens() const { return stop_ == '{' || stop_ == '['; }
  PENSTOCK_WALKS_THERE constexpr bool closes() const { return stop_ == '}' || stop_ == ']'; }

  /// Goes to the brace that closes the object. False if it is none.
  PENSTOCK_WALKS_THERE constexpr bool object() {
    step();
    if (stop_ != '{' || !is_blank(byte_at_, from_, at_)) return false;
    for (bool first = true; stop_ != '}' || first; first = false) {
      from_ = at_ + 1;
      step();
      if (first && stop_ == '}' && is_blank(byte_at_, from_, at_)) break;
      if (stop_ != ':' || !member()) return false;
    }
    from_ = at_ + 1;
    return true;
  }
  /// Goes from the colon behind a member's name to what is behind its value.
  PENSTOCK_WALKS_THERE constexpr bool member() {
    Place name = from_, name_end = at_;
    skip_blanks(byte_at_, name, name_end);
    if (!take_quotes(byte_at_, name, name_end)) return false;
    bool const is_key = NameMatch<Place, ByteAt>(fields_.key_name, byte_at_).is_at(name, name_end);
    bool const is_number = NameMatch<Place, ByteAt>(fields_.number_name, byte_at_).is_at(name, name_end);
    from_ = at_ + 1;
    bool nested = false;
    for (step(); opens(); step()) {
      if (nested || !is_blank(byte_at_, from_, at_)) return false;
      nested = true;
      for (std::uint64_t depth = 1; depth != 0;) {
        step();
        if (stop_ == '\n') return false;
        depth = opens() ? depth + 1 : closes() ? depth - 1 : depth;
      }
      from_ = at_ + 1;
    }
    if ((stop_ != ',' && stop_ != '}') || (nested && !is_blank(byte_at_, from_, at_))) return false;
    if (is_key || is_number) {
      Place value = from_, value_end = at_;
      skip_blanks(byte_at_, value, value_end);
      static_cast<void>(take_quotes(byte_at_, value, value_end));
      // An array or an object is no number: nothing is behind it.
      read_field<LineWalk::json>(line_, is_key, is_number, byte_at_, value, value_end, fields_);
    }
    return true;
  }

  Stops stops_;
  ByteAt const& byte_at_;
  Place const end_;
  Place from_;  ///< Behind the last stop, apart from those inside of values.
  Place at_{};
  char stop_ = 0;
  LineFields const& fields_;
  WalkedLine line_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
