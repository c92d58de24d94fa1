// SPDX-License-Identifier: Apache-2.0
// The fields of a line, as CPU and GPU walk over them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/line_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// What is known of a line once its fields were walked over.
struct WalkedLine {
  std::uint64_t key = 0;
  std::uint64_t number = 0;  ///< 0 if its field is no number.
  bool has_key = false;
  std::uint64_t stopped = 0;  ///< The line goes on there, or it ends.
};

/// A field that is to be a number, byte by byte.
struct FieldNumber {
  std::uint64_t value = 0;
  bool digits = false;
  bool wrong = false;  ///< It has something that is no digit, or is too large.

  constexpr void take(unsigned char byte) {
    unsigned const digit = byte - unsigned{'0'};
    if (digit > 9 || value > (~std::uint64_t{0} - digit) / 10) {
      wrong = true;
      return;
    }
    value = value * 10 + digit;
    digits = true;
  }
  constexpr bool good() const { return digits && !wrong; }
};

/// Walks over the fields of the line that begins at `begin`, as far as they are needed. `byte_at(i)` is the byte there;
/// no line goes on behind `end`.
template <class ByteAt>
constexpr WalkedLine walk_line(ByteAt const& byte_at, std::uint64_t begin, std::uint64_t end,
                               LineFields const& fields) {
  WalkedLine line;
  FieldNumber key, number;
  std::uint32_t const last = fields.key > fields.number ? fields.key : fields.number;
  std::uint32_t field = 0;
  bool quoted = false, bracketed = false, escaped = false;
  std::uint64_t at = begin;
  for (; at < end && field <= last; ++at) {
    auto const byte = static_cast<unsigned char>(byte_at(at));
    if (byte == '\n') break;
    if (quoted && escaped) {
      escaped = false;
    } else if (quoted && fields.escape != 0 && byte == static_cast<unsigned char>(fields.escape)) {
      escaped = true;
    } else if (!bracketed && fields.quote != 0 && byte == static_cast<unsigned char>(fields.quote)) {
      quoted = !quoted;
      continue;
    } else if (!quoted && fields.brackets && (byte == '[' || byte == ']')) {
      bracketed = byte == '[';
    } else if (!quoted && !bracketed && byte == static_cast<unsigned char>(fields.separator)) {
      ++field;
      continue;
    }
    if (byte == '\r' && (at + 1 == end || byte_at(at + 1) == '\n')) break;
    if (field == fields.key) key.take(byte);
    if (field == fields.number) number.take(byte);
  }
  line.has_key = key.good();
  line.key = key.value;
  line.number = number.good() ? number.value : 0;
  line.stopped = at;
  return line;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
