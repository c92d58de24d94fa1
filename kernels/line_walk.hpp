// SPDX-License-Identifier: Apache-2.0
// The walk over a line's fields, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"
#include "penstock/line_sums.hpp"

// In a CUDA source the walk is the GPU's alone.
#ifdef __CUDACC__
#define PENSTOCK_WALKS_THERE __device__
#else
#define PENSTOCK_WALKS_THERE
#endif

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// What is known of a line once its fields were walked over.
struct WalkedLine {
  std::uint64_t key = 0;
  std::uint64_t number = 0;   ///< 0 if its field is no number.
  std::uint64_t stopped = 0;  ///< Where the last field that counts ends: no line ends before that.
  bool has_key = false;
};

/// A field that is to be a number of decimal digits, at most 64 bits.
struct FieldNumber {
  std::uint64_t value = 0;
  bool digits = false;
  bool wrong = false;

  PENSTOCK_WALKS_THERE constexpr void take(char byte) {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    auto const digit = static_cast<unsigned>(static_cast<unsigned char>(byte)) - unsigned{'0'};
    wrong = wrong || digit > 9 || value > most / 10 || (value == most / 10 && digit > most % 10);
    value = value * 10 + digit;
    digits = true;
  }
  PENSTOCK_WALKS_THERE constexpr bool good() const { return digits && !wrong; }
};

/// True for the characters that may end a field or change what others mean.
PENSTOCK_WALKS_THERE constexpr bool is_stop(char byte, LineFields const& fields) {
  return byte == '\n' || byte == fields.separator || (byte == fields.quote && fields.quote != 0) ||
         (byte == fields.escape && fields.escape != 0) || (fields.brackets && (byte == '[' || byte == ']'));
}

/// Walks over the fields of the line that begins at `begin`, as far as they count. `stops.next()` is where the next
/// stop is, from `begin` on; `end` if there is none before it. `byte_at(i)` is the byte there.
template <class Place, class Stops, class ByteAt>
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
      FieldNumber number;
      for (Place k = field_begin; k < at - (without_last ? 1 : 0); ++k) {
        char const byte = byte_at(k);
        if (fields.quote == 0 || byte != fields.quote) number.take(byte);
      }
      if (field == fields.key) {
        line.has_key = number.good();
        line.key = number.value;
      }
      if (field == fields.number && number.good()) line.number = number.value;
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
