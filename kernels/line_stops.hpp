// SPDX-License-Identifier: Apache-2.0
// The bytes of a text that end fields, found many at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "penstock/flavour.hpp"
#include "penstock/kernels/json_walk.hpp"
#include "penstock/kernels/line_walk.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// For each bit, whether an odd number of those up to and with it are set.
constexpr std::uint64_t odd_up_to(std::uint64_t bits) noexcept {
  for (unsigned const step : {1U, 2U, 4U, 8U, 16U, 32U}) bits ^= bits << step;
  return bits;
}

/// Which bytes end a field: separators outside of quotes and brackets, and newlines. As many bytes are compared at once
/// as the processor can.
class StopSet {
 public:
  /// What the bytes of a line have come to so far.
  struct Before {
    bool quoted = false, bracketed = false, escaped = false;
  };

  /// With no more bytes at once than that: 16, 32 or 64.
  explicit StopSet(LineFields const& fields, [[maybe_unused]] unsigned at_most = 64)
      : fields_(fields), has_quote_(fields.quote != 0), has_escape_(has_quote_ && fields.escape != 0) {
    std::array<char, kinds> const bytes{'\n', fields.separator, fields.quote, fields.escape, '[', ']'};
    for (std::size_t k = 0; k < kinds; ++k) wide_[k].fill(bytes[k]);
#if defined(__SSE2__)
    if (at_most >= 32 && __builtin_cpu_supports("avx2")) at_once_ = 32;
    if (at_most >= 64 && __builtin_cpu_supports("avx512bw")) at_once_ = 64;
#endif
  }

  LineFields const& fields() const noexcept {
    return fields_;
  }
  /// A bit for each of 64 bytes, the lowest for the first. Those behind a newline say nothing.
  std::uint64_t of(char const* bytes, Before& before) const {
    Marks marks = marks_of(bytes);
    if (!has_quote_) marks[quotes] = 0;
    if (!has_escape_) marks[escapes] = 0;
    if (!fields_.brackets) marks[opens] = marks[closes] = 0;
    if (marks[escapes] != 0 || before.escaped) return one_by_one(marks, before);

    std::uint64_t const in_quotes = odd_up_to(marks[quotes]) ^ (before.quoted ? ~std::uint64_t{0} : 0);
    std::uint64_t const open = marks[opens] & ~in_quotes, close = marks[closes] & ~in_quotes;
    std::uint64_t const in_brackets = odd_up_to(open | close) ^ (before.bracketed ? ~std::uint64_t{0} : 0);
    // Brackets that do not take turns, and quotes within brackets, which mean nothing.
    if (((open & ~in_brackets) | (close & in_brackets) | (marks[quotes] & in_brackets)) != 0)
      return one_by_one(marks, before);
    before.quoted = in_quotes >> 63U != 0;
    before.bracketed = in_brackets >> 63U != 0;
    return marks[newlines] | (marks[separators] & ~in_quotes & ~in_brackets);
  }

 private:
  enum Kind : std::size_t { newlines, separators, quotes, escapes, opens, closes, kinds };
  using Marks = std::array<std::uint64_t, kinds>;

  /// As walk_line has it: the first of these rules that says something of a byte.
  static std::uint64_t one_by_one(Marks const& marks, Before& before) {
    std::uint64_t stops = marks[newlines];
    for (unsigned k = 0; k < 64; ++k) {
      std::uint64_t const bit = std::uint64_t{1} << k;
      if (std::exchange(before.escaped, false)) continue;
      if (before.quoted && (marks[escapes] & bit) != 0) {
        before.escaped = true;
      } else if (!before.bracketed && (marks[quotes] & bit) != 0) {
        before.quoted = !before.quoted;
      } else if (!before.quoted && ((marks[opens] | marks[closes]) & bit) != 0) {
        before.bracketed = (marks[opens] & bit) != 0;
      } else if (!before.quoted && !before.bracketed) {
        stops |= marks[separators] & bit;
      }
    }
    return stops;
  }

#if defined(__SSE2__)
  Marks marks_of(char const* bytes) const {
    if (at_once_ == 64) return by_64(bytes);
    if (at_once_ == 32) return by_32(bytes);
    Marks marks{};
    for (std::size_t part = 4; part-- > 0;) {
      __m128i const some = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + 16 * part));
      for (std::size_t k = 0; k < kinds; ++k) {
        __m128i const all = _mm_load_si128(reinterpret_cast<__m128i const*>(wide_[k].data()));
        auto const found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)));
        marks[k] = marks[k] << 16U | static_cast<std::uint64_t>(found);
      }
    }
    return marks;
  }
  __attribute__((target("avx2"))) Marks by_32(char const* bytes) const {
    Marks marks{};
    for (std::size_t part = 2; part-- > 0;) {
      __m256i const some = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(bytes + 32 * part));
      for (std::size_t k = 0; k < kinds; ++k) {
        __m256i const all = _mm256_load_si256(reinterpret_cast<__m256i const*>(wide_[k].data()));
        auto const found = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, all)));
        marks[k] = marks[k] << 32U | static_cast<std::uint64_t>(found);
      }
    }
    return marks;
  }
  __attribute__((target("avx512bw"))) Marks by_64(char const* bytes) const {
    __m512i const some = _mm512_loadu_si512(bytes);
    Marks marks{};
    for (std::size_t k = 0; k < kinds; ++k) marks[k] = _mm512_cmpeq_epi8_mask(some, _mm512_load_si512(wide_[k].data()));
    return marks;
  }
#else
  Marks marks_of(char const* bytes) const {
    Marks marks{};
    for (std::size_t at = 64; at-- > 0;) {
      for (std::size_t k = 0; k < kinds; ++k)
        marks[k] = marks[k] << 1U | static_cast<std::uint64_t>(bytes[at] == wide_[k][0]);
    }
    return marks;
  }
#endif

  LineFields fields_;
  bool has_quote_, has_escape_;
  alignas(64) std::array<std::array<char, 64>, kinds> wide_{};
  unsigned at_once_ = 16;  ///< Bytes.
};

/// The same of JSON, where it depends on what came before which bytes are.
class JsonStopSet {
 public:
  using Before = JsonStrings<std::uint64_t>;

  explicit JsonStopSet(LineFields const& fields) : fields_(fields) {}

  LineFields const& fields() const noexcept { return fields_; }
  std::uint64_t of(char const* bytes, Before& before) const {
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
    return before.stops(marks);
  }

 private:
  LineFields fields_;
};

/// Goes from stop to stop through a text. Places count from its beginning.
template <class Set>
class StopCursor {
 public:
  StopCursor(Set const& set, std::span<char const> text) : set_(set), text_(text) {}

  /// The next stop will be at `at`, where a line begins, or behind it.
  void seek(std::size_t at) {
    base_ = at;
    before_ = {};
    look();
  }
  /// The end of the text, if there is none.
  std::size_t next() {
    while (mask_ == 0) {
      if (text_.size() - base_ <= 64) return text_.size();
      base_ += 64;
      look();
    }
    auto const at = base_ + static_cast<unsigned>(std::countr_zero(mask_));
    mask_ &= mask_ - 1;
    return at;
  }

 private:
  void look() {
    std::size_t const left = text_.size() - base_;
    if (left >= 64) {
      mask_ = set_.of(text_.data() + base_, before_);
      return;
    }
    // What is behind the end is not the text's.
    std::array<char, 64> rest{};
    std::memcpy(rest.data(), text_.data() + base_, left);
    mask_ = set_.of(rest.data(), before_) & ((std::uint64_t{1} << left) - 1);
  }

  Set const& set_;
  std::span<char const> const text_;
  typename Set::Before before_;
  std::size_t base_ = 0;
  std::uint64_t mask_ = 0;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
