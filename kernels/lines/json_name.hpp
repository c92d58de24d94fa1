// SPDX-License-Identifier: Apache-2.0
// Names of members of JSON objects, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/line_walk.hpp"

namespace penstock {

template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr void skip_blanks(ByteAt const& byte_at, Place& begin, Place& end) {
  // RFC 7464: a text may begin with 0x1E.
  auto const blank = [](char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\x1e'; };
  while (begin < end && blank(byte_at(begin))) ++begin;
  while (begin < end && blank(byte_at(end - 1))) --end;
}
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool is_blank(ByteAt const& byte_at, Place begin, Place end) {
  skip_blanks(byte_at, begin, end);
  return begin == end;
}
/// Removes the quotes around a string, and returns true if there were any.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool take_quotes(ByteAt const& byte_at, Place& begin, Place& end) {
  if (end - begin < 2 || byte_at(begin) != '"' || byte_at(end - 1) != '"') return false;
  ++begin;
  --end;
  return true;
}

/// Result of comparing a member's name with the name that is looked for.
enum class NameIs : std::uint8_t {
  another,
  all,    ///< It is the whole rest of the name.
  outer,  ///< The rest of the name begins with a dot: a member of this member may be the one.
};

/// Compares a string with the rest of a name, byte by byte.
template <class Place, class ByteAt>
class NameMatch {
 public:
  PENSTOCK_WALKS_THERE constexpr NameMatch(LineName const& name, unsigned from, ByteAt const& byte_at)
      : name_(name), byte_at_(byte_at), taken_(from) {}

  /// Compares the string in [begin, end), with escapes or without.
  PENSTOCK_WALKS_THERE constexpr NameIs is_at(Place begin, Place end) {
    if (taken_ >= name_.size || begin == end) return NameIs::another;
    if (char const first = byte_at_(begin); first != name_.bytes[taken_] && first != '\\') return NameIs::another;
    return goes_on(begin, end);
  }
  /// Number of bytes of the name up to the end of the string.
  PENSTOCK_WALKS_THERE constexpr unsigned taken() const { return taken_; }

 private:
  PENSTOCK_WALKS_THERE constexpr NameIs goes_on(Place begin, Place end) {
    for (Place at = begin; at < end;) {
      char const byte = byte_at_(at++);
      if (byte != '\\' ? !takes(byte) : !takes_escape(at, end)) return NameIs::another;
    }
    return taken_ == name_.size ? NameIs::all : name_.bytes[taken_] == '.' ? NameIs::outer : NameIs::another;
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
  /// Takes four hexadecimal digits, or a surrogate pair. An unpaired half becomes U+FFFD.
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
  unsigned taken_;
};

/// Follows a name whose parts have dots between them into nested objects.
template <class Place, class ByteAt>
class MemberPath {
 public:
  PENSTOCK_WALKS_THERE constexpr MemberPath(LineName const& name, ByteAt const& byte_at)
      : name_(name), byte_at_(byte_at) {}

  /// Compares a member of an object at this depth, whose name is in [begin, end).
  PENSTOCK_WALKS_THERE constexpr NameIs is_at(Place begin, Place end, unsigned depth) {
    if (depth != depth_) return NameIs::another;
    NameMatch<Place, ByteAt> match(name_, from_, byte_at_);
    NameIs const is = match.is_at(begin, end);
    behind_ = match.taken() + 1;
    return is;
  }
  /// Enters the member for which is_at returned `outer`.
  PENSTOCK_WALKS_THERE constexpr void enter() {
    parts_ |= std::uint64_t{1} << from_;
    from_ = behind_;
    ++depth_;
  }
  /// Leaves an object at this depth.
  PENSTOCK_WALKS_THERE constexpr void leave(unsigned depth) {
    if (depth != depth_) return;
    do --from_;
    while ((parts_ >> from_ & 1U) == 0);
    parts_ &= ~(std::uint64_t{1} << from_);
    --depth_;
  }

 private:
  static_assert(LineName::most_bytes < 64);

  LineName const& name_;
  ByteAt const& byte_at_;
  std::uint64_t parts_ = 0;  ///< A bit for each place where an outer part of the name begins.
  unsigned from_ = 0;        ///< Offset at which the rest of the name begins.
  unsigned behind_ = 0;
  unsigned depth_ = 0;
};

}  // namespace penstock
