// SPDX-License-Identifier: Apache-2.0
// The bytes of a text that may end a field or change what the next ones mean, found many at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "penstock/line_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Which bytes are stops, as a set to compare sixteen bytes with.
class StopSet {
 public:
  explicit StopSet(LineFields const& fields)
      : stops_{'\n',
               fields.separator,
               fields.quote != 0 ? fields.quote : '\n',
               fields.escape != 0 ? fields.escape : '\n',
               fields.brackets ? '[' : '\n',
               fields.brackets ? ']' : '\n'} {
    for (std::size_t k = 0; k < stops_.size(); ++k) wide_[k].fill(stops_[k]);
  }

  /// A bit for each of 64 bytes, the lowest for the first.
  std::uint64_t of(char const* bytes) const {
    std::uint64_t mask = 0;
#if defined(__SSE2__)
    for (int part = 3; part >= 0; --part) {
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
      bool found = false;
      for (char const stop : stops_) found = found || bytes[k] == stop;
      mask = mask << 1U | static_cast<std::uint64_t>(found);
    }
#endif
    return mask;
  }

 private:
  std::array<char, 6> stops_;
  alignas(16) std::array<std::array<char, 16>, 6> wide_{};
};

/// Goes from stop to stop through a text.
class StopCursor {
 public:
  StopCursor(StopSet const& set, char const* at, char const* end) : set_(set), end_(end) { seek(at); }

  /// The next stop will be at `at` or behind it.
  void seek(char const* at) {
    base_ = at;
    look();
  }
  /// The end of the text, if there is none.
  char const* next() {
    while (mask_ == 0) {
      if (end_ - base_ <= 64) return end_;
      base_ += 64;
      look();
    }
    char const* const at = base_ + std::countr_zero(mask_);
    mask_ &= mask_ - 1;
    return at;
  }

 private:
  void look() {
    if (end_ - base_ >= 64) {
      mask_ = set_.of(base_);
      return;
    }
    // What is behind the end is not the text's.
    std::array<char, 64> rest{};
    auto const length = static_cast<std::size_t>(end_ - base_);
    std::memcpy(rest.data(), base_, length);
    mask_ = set_.of(rest.data()) & ((std::uint64_t{1} << length) - 1);
  }

  StopSet const& set_;
  char const* const end_;
  char const* base_ = nullptr;
  std::uint64_t mask_ = 0;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
