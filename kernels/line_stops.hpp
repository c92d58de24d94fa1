// SPDX-License-Identifier: Apache-2.0
// The bytes of a text that may end a field or change what the next ones mean, found many at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "penstock/flavour.hpp"
#include "penstock/kernels/json_walk.hpp"
#include "penstock/kernels/line_walk.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Which bytes are stops, as a set to compare as many bytes with at once as the processor can.
class StopSet {
 public:
  struct Before {};  ///< Stops do not depend on what came before them.

  /// With no more bytes at once than that: 16, 32 or 64.
  explicit StopSet(LineFields const& fields, [[maybe_unused]] unsigned at_most = 64) : fields_(fields) {
    std::array<char, 6> const stops{'\n',
                                    fields.separator,
                                    fields.quote != 0 ? fields.quote : '\n',
                                    fields.escape != 0 ? fields.escape : '\n',
                                    fields.brackets ? '[' : '\n',
                                    fields.brackets ? ']' : '\n'};
    for (std::size_t k = 0; k < stops.size(); ++k) wide_[k].fill(stops[k]);
#if defined(__SSE2__)
    if (at_most >= 32 && __builtin_cpu_supports("avx2")) at_once_ = 32;
    if (at_most >= 64 && __builtin_cpu_supports("avx512bw")) at_once_ = 64;
#endif
  }

  LineFields const& fields() const noexcept {
    return fields_;
  }
  /// A bit for each of 64 bytes, the lowest for the first.
  std::uint64_t of(char const* bytes, Before& /*before*/) const {
    std::uint64_t mask = 0;
#if defined(__SSE2__)
    if (at_once_ == 64) return by_64(bytes);
    if (at_once_ == 32) return by_32(bytes);
    for (std::size_t part = 4; part-- > 0;) {
      __m128i const some = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + 16 * part));
      __m128i found = _mm_setzero_si128();
      for (auto const& stop : wide_) {
        found =
            _mm_or_si128(found, _mm_cmpeq_epi8(some, _mm_load_si128(reinterpret_cast<__m128i const*>(stop.data()))));
      }
      mask = mask << 16U | static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found)));
    }
#else
    for (int k = 63; k >= 0; --k) {
      mask = mask << 1U | static_cast<std::uint64_t>(is_stop(bytes[k], fields_));
    }
#endif
    return mask;
  }

 private:
#if defined(__SSE2__)
  __attribute__((target("avx512bw"))) std::uint64_t by_64(char const* bytes) const {
    __m512i const some = _mm512_loadu_si512(bytes);
    std::uint64_t mask = 0;
    for (auto const& stop : wide_) mask |= _mm512_cmpeq_epi8_mask(some, _mm512_load_si512(stop.data()));
    return mask;
  }
  __attribute__((target("avx2"))) std::uint64_t by_32(char const* bytes) const {
    std::uint64_t mask = 0;
    for (std::size_t part = 2; part-- > 0;) {
      __m256i const some = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(bytes + 32 * part));
      __m256i found = _mm256_setzero_si256();
      for (auto const& stop : wide_) {
        __m256i const all = _mm256_load_si256(reinterpret_cast<__m256i const*>(stop.data()));
        found = _mm256_or_si256(found, _mm256_cmpeq_epi8(some, all));
      }
      mask = mask << 32U | static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_epi8(found)));
    }
    return mask;
  }
#endif

  LineFields fields_;
  alignas(64) std::array<std::array<char, 64>, 6> wide_{};
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
