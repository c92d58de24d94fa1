// SPDX-License-Identifier: Apache-2.0
// Goes from stop to stop through a text.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/lines/line_stops.hpp"

namespace penstock {

/// Goes from stop to stop through a text. Places count from its beginning.
template <class Set>
class StopCursor {
 public:
  static constexpr bool watches_quotes = false;  ///< Walks do not watch them: `next_line` finds them.

  StopCursor(Set const& set, std::span<char const> text) : set_(set), text_(text) {}

  /// Makes the next stop the first one from `at` on, where a line begins.
  void seek(std::size_t at) {
    base_ = at;
    before_ = {};
    look();
  }
  /// The next stop; the end of the text, if there is none.
  std::size_t next() {
    while (bits_.ends == 0) {
      if (!look_on()) return text_.size();
    }
    auto const at = base_ + static_cast<unsigned>(std::countr_zero(bits_.ends));
    bits_.ends &= bits_.ends - 1;
    return at;
  }
  /// Passes over the ends of `fields` fields. False if the line has fewer: `next` is then its end.
  bool skip(unsigned fields) {
    for (;;) {
      std::uint64_t const in_line = (bits_.newlines & -bits_.newlines) - 1;  // All, if no line ends here.
      std::uint64_t ends = bits_.ends & in_line;
      for (; fields > 0 && ends != 0; --fields) ends &= ends - 1;
      bits_.ends = ends | (bits_.ends & ~in_line);
      if (fields == 0) return true;
      if (bits_.newlines != 0 || !look_on()) return false;
    }
  }

  /// The place behind the next newline; the end of the text, if there is none. `in_quotes` says if that is within
  /// quotes, provided that the set watches them. Follow with `seek`.
  std::size_t next_line(bool& in_quotes) {
    // `next` removes a bit, but no newline, from these.
    while (bits_.newlines == 0 && set_.watches_quotes()) {
      in_quotes = before_.quoted;
      if (text_.size() - base_ <= 64) return text_.size();
      std::size_t const behind = base_ + 64;
      // Most lines have no quotes from here on.
      std::size_t const next = in_quotes ? behind : set_.newline_or_quote(text_, behind);
      if (next == text_.size()) return next;
      if (!in_quotes && text_[next] == '\n') return next + 1;
      if (next - behind >= 64) before_ = {.begins = text_[next - 1] == set_.fields().separator};
      base_ = next - behind >= 64 ? next : behind;
      look();
    }
    in_quotes = set_.watches_quotes() && (bits_.open & bits_.newlines & -bits_.newlines) != 0;
    if (bits_.newlines != 0) return base_ + static_cast<unsigned>(std::countr_zero(bits_.newlines)) + 1;
    if (text_.size() - base_ <= 64) return text_.size();
    void const* const found = std::memchr(text_.data() + base_ + 64, '\n', text_.size() - base_ - 64);
    return found == nullptr ? text_.size()
                            : static_cast<std::size_t>(static_cast<char const*>(found) - text_.data()) + 1;
  }

 private:
  /// Looks at the next 64 bytes. False at the end of the text.
  bool look_on() {
    if (text_.size() - base_ <= 64) return false;
    base_ += 64;
    look();
    return true;
  }
  void look() {
    std::size_t const left = text_.size() - base_;
    std::array<char, 64> rest;
    char const* bytes = text_.data() + base_;
    if (left < 64) {
      // Bytes behind the end are not part of the text.
      rest.fill(0);
      std::memcpy(rest.data(), bytes, left);
      bytes = rest.data();
    }
    bits_ = set_.of(bytes, before_);
    if (left >= 64) return;
    std::uint64_t const all = (std::uint64_t{1} << left) - 1;
    bits_ = {bits_.ends & all, bits_.newlines & all, bits_.open & all};
  }

  Set const& set_;
  std::span<char const> const text_;
  typename Set::Before before_;
  std::size_t base_ = 0;
  StopBits bits_;
};

}  // namespace penstock
