// SPDX-License-Identifier: Apache-2.0
// The walk over the members of a JSON object in a line, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/json_name.hpp"
#include "kernels/lines/line_walk.hpp"

namespace penstock {

/// True for the characters that begin, end or divide members.
PENSTOCK_WALKS_THERE constexpr bool is_json_stop(char byte) {
  auto const folded = static_cast<char>(static_cast<unsigned char>(byte) | 0x20U);  // This makes '[' equal to '{'.
  return folded == '{' || folded == '}' || byte == ',' || byte == ':';
}

/// Bytes of each kind: a bit for each byte, the lowest for the first.
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
  bool escaped_ = false;  ///< The next byte is escaped.
};

/// Walks over one JSON text of a line, which is an object if the line is valid.
template <class Place, class Stops, class ByteAt>
class JsonWalk {
 public:
  /// The text begins at `begin`. `stops.next()` is the next stop outside of strings, or the end of the line; `end` if
  /// there is none before it.
  PENSTOCK_WALKS_THERE constexpr JsonWalk(Stops const& stops, ByteAt const& byte_at, Place begin, Place end,
                                          LineFields const& fields)
      : stops_(stops),
        byte_at_(byte_at),
        end_(end),
        from_(begin),
        fields_(fields),
        key_(fields.key_name, byte_at),
        number_(fields.number_name, byte_at) {}

  PENSTOCK_WALKS_THERE constexpr WalkedLine walk() {
    LineReason wrong = text();
    if (wrong == LineReason::used) {
      step();
      line_.goes_on = stop_ == '{';
      if ((stop_ != '\n' && !line_.goes_on) || !is_blank(byte_at_, from_, at_)) wrong = LineReason::broken;
    }
    if (wrong != LineReason::used) line_ = {.key_reason = wrong, .number_reason = wrong};
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

  /// Goes to the brace that closes the object. A reason other than `used` says that there is none.
  PENSTOCK_WALKS_THERE constexpr LineReason text() {
    step();
    if (bool const blank = is_blank(byte_at_, from_, at_); stop_ != '{' || !blank) {
      return stop_ == '\n' && blank ? LineReason::empty : LineReason::no_object;
    }
    if (members()) return LineReason::used;
    return stop_ == '\n' ? LineReason::unfinished : LineReason::broken;
  }
  /// Goes over all members, and those of the objects that the names lead into.
  PENSTOCK_WALKS_THERE constexpr bool members() {
    bool none_yet = true;
    for (;;) {
      from_ = at_ + 1;
      step();
      if (!none_yet || stop_ != '}' || !is_blank(byte_at_, from_, at_)) {
        if (stop_ != ':' || !name() || !value()) return false;
        none_yet = opens();
        if (none_yet) continue;
      }
      for (; stop_ == '}'; --depth_) {
        from_ = at_ + 1;
        if (depth_ == 0) return true;
        key_.leave(depth_);
        number_.leave(depth_);
        step();
        if (!is_blank(byte_at_, from_, at_)) return false;
      }
      if (stop_ != ',') return false;
      none_yet = false;
    }
  }
  /// Takes the text before a colon as the name of a member.
  PENSTOCK_WALKS_THERE constexpr bool name() {
    Place begin = from_, end = at_;
    skip_blanks(byte_at_, begin, end);
    if (!take_quotes(byte_at_, begin, end)) return false;
    is_key_ = key_.is_at(begin, end, depth_);
    is_number_ = number_.is_at(begin, end, depth_);
    // The last of several members with the same name counts.
    if (is_key_ != NameIs::another) line_.key_reason = LineReason::no_field;
    if (is_number_ != NameIs::another) {
      line_.number_reason = LineReason::no_field;
      line_.number = 0;
      line_.negative = false;
    }
    return true;
  }
  /// Goes from the colon to the place behind the member's value, or to the brace of an object that a name leads into.
  PENSTOCK_WALKS_THERE constexpr bool value() {
    from_ = at_ + 1;
    step();
    if (!opens()) {
      if (is_key_ == NameIs::all || is_number_ == NameIs::all) take_value();
      return stop_ == ',' || stop_ == '}';
    }
    if (!is_blank(byte_at_, from_, at_)) return false;
    if (is_key_ == NameIs::all) line_.key_reason = LineReason::text;
    if (is_number_ == NameIs::all) line_.number_reason = LineReason::text;
    if (stop_ == '{' && (is_key_ == NameIs::outer || is_number_ == NameIs::outer)) {
      if (is_key_ == NameIs::outer) key_.enter();
      if (is_number_ == NameIs::outer) number_.enter();
      ++depth_;
      return true;
    }
    for (std::uint64_t depth = 1; depth != 0;) {
      step();
      if (stop_ == '\n') return false;
      depth = opens() ? depth + 1 : closes() ? depth - 1 : depth;
    }
    from_ = at_ + 1;
    step();
    return (stop_ == ',' || stop_ == '}') && is_blank(byte_at_, from_, at_);
  }
  PENSTOCK_WALKS_THERE constexpr void take_value() {
    Place begin = from_, end = at_;
    skip_blanks(byte_at_, begin, end);
    bool const is_null = end - begin == 4 && byte_at_(begin) == 'n' && byte_at_(begin + 1) == 'u';
    if (is_null) begin = end;
    static_cast<void>(take_quotes(byte_at_, begin, end));
    read_field<LineWalk::json>(line_, is_key_ == NameIs::all, is_number_ == NameIs::all, byte_at_, begin, end, end,
                               fields_);
  }

  Stops stops_;
  ByteAt const& byte_at_;
  Place const end_;
  Place from_;  ///< The place behind the last stop that is not inside a value.
  Place at_{};
  char stop_ = 0;
  LineFields const& fields_;
  MemberPath<Place, ByteAt> key_, number_;
  NameIs is_key_ = NameIs::another, is_number_ = NameIs::another;  ///< Results for the member that was named last.
  unsigned depth_ = 0;                                             ///< Objects around the current one.
  WalkedLine line_;
};

}  // namespace penstock
