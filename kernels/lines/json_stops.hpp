// SPDX-License-Identifier: Apache-2.0
// The bytes of JSON lines that begin, end or divide members, found many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/lines/json_walk.hpp"
#include "kernels/lines/line_stops.hpp"

namespace penstock {

/// Finds the stops of JSON as StopSet finds the ends of fields. The result depends on the bytes before.
class JsonStopSet {
 public:
  using Before = JsonStrings<std::uint64_t>;

  explicit JsonStopSet(LineFields const& fields) : fields_(fields) {}

  LineFields const& fields() const noexcept { return fields_; }
  bool watches_quotes() const noexcept { return false; }
  StopBits of(char const* bytes, Before& before) const {
    JsonMarks<std::uint64_t> marks{};
#if defined(__SSE2__)
    auto const bits = [](__m128i found) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found)));
    };
    for (std::size_t part = 4; part-- > 0;) {
      __m128i const some = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + 16 * part));
      __m128i const folded = _mm_or_si128(some, _mm_set1_epi8(0x20));
      auto const is = [](__m128i those, char byte) { return _mm_cmpeq_epi8(those, _mm_set1_epi8(byte)); };
      __m128i const stops =
          _mm_or_si128(_mm_or_si128(is(folded, '{'), is(folded, '}')), _mm_or_si128(is(some, ','), is(some, ':')));
      marks.stops = marks.stops << 16U | bits(stops);
      marks.quotes = marks.quotes << 16U | bits(is(some, '"'));
      marks.escapes = marks.escapes << 16U | bits(is(some, '\\'));
      marks.newlines = marks.newlines << 16U | bits(is(some, '\n'));
    }
#else
    for (int k = 63; k >= 0; --k) {
      marks.stops = marks.stops << 1U | static_cast<std::uint64_t>(is_json_stop(bytes[k]));
      marks.quotes = marks.quotes << 1U | static_cast<std::uint64_t>(bytes[k] == '"');
      marks.escapes = marks.escapes << 1U | static_cast<std::uint64_t>(bytes[k] == '\\');
      marks.newlines = marks.newlines << 1U | static_cast<std::uint64_t>(bytes[k] == '\n');
    }
#endif
    return {before.stops(marks), marks.newlines};
  }

 private:
  LineFields fields_;
};

}  // namespace penstock
