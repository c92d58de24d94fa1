// SPDX-License-Identifier: Apache-2.0
// The bytes of a text that end fields, found many at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/lines/line_walk.hpp"

namespace penstock {

/// Sets each bit up to which, with itself, an odd number of bits are set.
constexpr std::uint64_t odd_up_to(std::uint64_t bits) noexcept {
  for (unsigned const step : {1U, 2U, 4U, 8U, 16U, 32U}) bits ^= bits << step;
  return bits;
}

#if defined(__SSE2__)
/// The same by one carry-less multiplication.
__attribute__((target("pclmul"))) inline std::uint64_t odd_up_to_at_once(std::uint64_t bits) noexcept {
  __m128i const all = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(all));
}
#endif

/// Ends of fields and lines within 64 bytes: a bit for each byte, the lowest for the first. Bits of `ends` behind a
/// newline have no meaning.
struct StopBits {
  std::uint64_t ends = 0;  ///< Ends of fields and lines.
  std::uint64_t newlines = 0;
  std::uint64_t open = 0;  ///< Newlines within quotes.
};

/// Finds the bytes that end a field: separators outside of quotes and brackets, and newlines. The first of several
/// blanks between words ends it. As many bytes are compared at once as the processor can.
class StopSet {
 public:
  /// State after the bytes of a line so far.
  struct Before {
    bool quoted = false, bracketed = false, escaped = false;
    bool begins = true;   ///< A field begins with the next byte. For words: the next byte follows a blank, or is the
                          ///< line's first.
    bool closed = false;  ///< The last byte was a quote that closes.
  };

  /// Compares at most `at_most` bytes at once: 16, 32 or 64.
  explicit StopSet(LineFields const& fields, [[maybe_unused]] unsigned at_most = 64)
      : fields_(fields),
        words_(fields.format == LineFormat::words),
        has_quote_(fields.quote != 0),
        has_escape_(has_quote_ && fields.escape != 0),
        doubles_quotes_(penstock::doubles_quotes(fields)),
        watches_quotes_(may_break_in_quotes(fields)) {
    std::array<char, kinds> const bytes{'\n', fields.separator, words_ ? '\t' : fields.quote, fields.escape, '[', ']'};
    for (std::size_t k = 0; k < kinds; ++k) wide_[k].fill(bytes[k]);
#if defined(__SSE2__)
    bool const by_32 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul") &&
                       __builtin_cpu_supports("popcnt");
    if (at_most >= 32 && by_32) at_once_ = 32;
    if (at_most >= 64 && by_32 && __builtin_cpu_supports("avx512bw")) at_once_ = 64;
#endif
  }

  LineFields const& fields() const noexcept {
    return fields_;
  }
  /// True if it finds newlines within quotes.
  bool watches_quotes() const noexcept {
    return watches_quotes_;
  }
  /// Number of bytes that are compared at once: 16, 32 or 64.
  unsigned at_once() const noexcept {
    return at_once_;
  }
  StopBits of(char const* bytes, Before& before) const {
#if defined(__SSE2__)
    if (at_once_ == 64) return of_by<64>(bytes, before);
    if (at_once_ == 32) return of_by<32>(bytes, before);
#endif
    return of_by<16>(bytes, before);
  }
  /// The same for a processor that compares at least `at_once` bytes at once. Functions for such a processor inline it.
  template <unsigned at_once>
  StopBits of_by(char const* bytes, Before& before) const {
    if (has_escape_ || fields_.brackets) return log_stops<at_once>(marks_by<at_once, kinds>(bytes), before);
    return stops<at_once>(marks_by<at_once, quotes + 1>(bytes), before);
  }
  /// Place of the first newline or quote from `at` on; the text's size if there is none.
  std::size_t newline_or_quote(std::span<char const> text, std::size_t at) const {
#if defined(__SSE2__)
    for (; text.size() - at >= 16; at += 16) {
      __m128i const some = _mm_loadu_si128(reinterpret_cast<__m128i const*>(text.data() + at));
      auto const is = [&](Kind kind) {
        return _mm_cmpeq_epi8(some, _mm_load_si128(reinterpret_cast<__m128i const*>(wide_[kind].data())));
      };
      auto const found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(is(newlines), is(quotes))));
      if (found != 0) return at + static_cast<unsigned>(std::countr_zero(found));
    }
#endif
    while (at < text.size() && text[at] != '\n' && text[at] != fields_.quote) ++at;
    return at;
  }

 private:
  enum Kind : std::size_t { newlines, separators, quotes, escapes, opens, closes, kinds, tabs = quotes };
  using Marks = std::array<std::uint64_t, kinds>;

  /// Finds the stops in lines without escapes and brackets.
  template <unsigned at_once>
  StopBits stops(Marks const& marks, Before& before) const {
    if (words_) {
      std::uint64_t const blanks = marks[separators] | marks[tabs];
      std::uint64_t const first = blanks & ~(blanks << 1U | (before.begins ? 1U : 0U));
      before.begins = blanks >> 63U != 0;
      return {marks[newlines] | first, marks[newlines]};
    }
    if (!has_quote_) return {marks[newlines] | marks[separators], marks[newlines]};
    std::uint64_t const in_quotes = odd_by<at_once>(marks[quotes]) ^ (before.quoted ? ~std::uint64_t{0} : 0);
    std::uint64_t const ends = marks[separators] & ~in_quotes, closing = marks[quotes] & ~in_quotes;
    std::uint64_t const may_open = (ends | closing) << 1U | (before.begins || before.closed ? 1U : 0U);
    if ((marks[quotes] & in_quotes & ~may_open & in_line(marks)) != 0) return one_by_one(marks, before);
    before.quoted = in_quotes >> 63U != 0;
    before.begins = (ends | closing) >> 63U != 0;  // It may be closed as well, which means the same here.
    before.closed = false;
    return {marks[newlines] | ends, marks[newlines], marks[newlines] & in_quotes};
  }
  /// Finds the stops in all other lines.
  template <unsigned at_once>
  StopBits log_stops(Marks marks, Before& before) const {
    if (!has_quote_) marks[quotes] = 0;
    if (!has_escape_) marks[escapes] = 0;
    if (!fields_.brackets) marks[opens] = marks[closes] = 0;
    if (marks[escapes] != 0 || before.escaped) return one_by_one(marks, before);

    std::uint64_t const in_quotes = odd_by<at_once>(marks[quotes]) ^ (before.quoted ? ~std::uint64_t{0} : 0);
    std::uint64_t const open = marks[opens] & ~in_quotes, close = marks[closes] & ~in_quotes;
    std::uint64_t const in_brackets = odd_by<at_once>(open | close) ^ (before.bracketed ? ~std::uint64_t{0} : 0);
    std::uint64_t const ends = marks[separators] & ~in_quotes & ~in_brackets, closing = marks[quotes] & ~in_quotes;
    std::uint64_t const begins = ends << 1U | (before.begins ? 1U : 0U);
    std::uint64_t const may_open = begins | (doubles_quotes_ ? closing << 1U | (before.closed ? 1U : 0U) : 0U);
    // Brackets that do not alternate, quotes within brackets, and both where no field begins have no meaning.
    std::uint64_t const odd = (open & ~(in_brackets & begins)) | (close & in_brackets) |
                              (marks[quotes] & (in_brackets | (in_quotes & ~may_open)));
    if ((odd & in_line(marks)) != 0) return one_by_one(marks, before);
    before = {.quoted = in_quotes >> 63U != 0,
              .bracketed = in_brackets >> 63U != 0,
              .begins = ends >> 63U != 0,
              .closed = closing >> 63U != 0};
    return {marks[newlines] | ends, marks[newlines], marks[newlines] & in_quotes};
  }
  /// The bytes in front of the first newline: all, if no line ends here.
  static std::uint64_t in_line(Marks const& marks) {
    return (marks[newlines] & -marks[newlines]) - 1;
  }
  /// Judges byte by byte, as FieldQuotes does.
  [[gnu::noinline]] StopBits one_by_one(Marks const& marks, Before& before) const {
    StopBits stops{marks[newlines], marks[newlines]};
    for (unsigned k = 0; k < 64; ++k) {
      std::uint64_t const bit = std::uint64_t{1} << k;
      auto const is = [&](Kind kind) { return (marks[kind] & bit) != 0; };
      bool const begins = std::exchange(before.begins, false), closed = std::exchange(before.closed, false);
      if (before.quoted) {
        if (is(newlines)) stops.open |= bit;
        if (std::exchange(before.escaped, false)) continue;
        before.escaped = is(escapes);
        before.closed = is(quotes);
        before.quoted = !is(quotes);
      } else if (before.bracketed) {
        before.bracketed = !is(closes);
      } else if (is(separators)) {
        stops.ends |= bit;
        before.begins = true;
      } else {
        before.quoted = is(quotes) && (begins || (closed && doubles_quotes_));
        before.bracketed = is(opens) && begins;
      }
    }
    return stops;
  }

  template <unsigned at_once>
  static std::uint64_t odd_by(std::uint64_t bits) {
#if defined(__SSE2__)
    if constexpr (at_once > 16) return odd_up_to_at_once(bits);
#endif
    return odd_up_to(bits);
  }
  /// Marks of the first `count` kinds; the others are nowhere.
  template <unsigned at_once, std::size_t count>
  Marks marks_by(char const* bytes) const {
#if defined(__SSE2__)
    if constexpr (at_once == 64) return by_64<count>(bytes);
    if constexpr (at_once == 32) return by_32<count>(bytes);
#endif
    return by_16<count>(bytes);
  }

#if defined(__SSE2__)
  template <std::size_t count>
  Marks by_16(char const* bytes) const {
    Marks marks{};
    for (std::size_t part = 4; part-- > 0;) {
      __m128i const some = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + 16 * part));
      for (std::size_t k = 0; k < count; ++k) {
        __m128i const all = _mm_load_si128(reinterpret_cast<__m128i const*>(wide_[k].data()));
        auto const found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)));
        marks[k] = marks[k] << 16U | static_cast<std::uint64_t>(found);
      }
    }
    return marks;
  }
  template <std::size_t count>
  __attribute__((target("avx2"))) Marks by_32(char const* bytes) const {
    Marks marks{};
    for (std::size_t part = 2; part-- > 0;) {
      __m256i const some = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(bytes + 32 * part));
      for (std::size_t k = 0; k < count; ++k) {
        __m256i const all = _mm256_load_si256(reinterpret_cast<__m256i const*>(wide_[k].data()));
        auto const found = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, all)));
        marks[k] = marks[k] << 32U | static_cast<std::uint64_t>(found);
      }
    }
    return marks;
  }
  template <std::size_t count>
  __attribute__((target("avx512bw"))) Marks by_64(char const* bytes) const {
    __m512i const some = _mm512_loadu_si512(bytes);
    Marks marks{};
    for (std::size_t k = 0; k < count; ++k) marks[k] = _mm512_cmpeq_epi8_mask(some, _mm512_load_si512(wide_[k].data()));
    return marks;
  }
#else
  template <std::size_t count>
  Marks by_16(char const* bytes) const {
    Marks marks{};
    for (std::size_t at = 64; at-- > 0;) {
      for (std::size_t k = 0; k < count; ++k)
        marks[k] = marks[k] << 1U | static_cast<std::uint64_t>(bytes[at] == wide_[k][0]);
    }
    return marks;
  }
#endif

  LineFields fields_;
  bool words_, has_quote_, has_escape_, doubles_quotes_, watches_quotes_;
  alignas(64) std::array<std::array<char, 64>, kinds> wide_{};
  unsigned at_once_ = 16;  ///< Bytes that are compared at once.
};

/// A StopSet on a processor that compares `at_once` bytes at once.
template <unsigned at_once>
class StopSetBy {
 public:
  using Before = StopSet::Before;

  explicit StopSetBy(StopSet const& set) : set_(set) {}

  LineFields const& fields() const noexcept { return set_.fields(); }
  bool watches_quotes() const noexcept { return set_.watches_quotes(); }
  std::size_t newline_or_quote(std::span<char const> text, std::size_t at) const {
    return set_.newline_or_quote(text, at);
  }
  StopBits of(char const* bytes, Before& before) const { return set_.of_by<at_once>(bytes, before); }

 private:
  StopSet const& set_;
};

}  // namespace penstock
