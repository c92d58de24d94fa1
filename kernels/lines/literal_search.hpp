// SPDX-License-Identifier: Apache-2.0
// The search for lines that have a literal, on CPUs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/lines/literal_table.hpp"

namespace penstock {

/// Finds the lines of a text that have one of some literals.
///
/// It compares literals where the table has a window of the text. If lines resemble many literals these are too many,
/// and the automaton takes the rest.
class LiteralSearch {
 public:
  /// Searches the lines from `begin` on, up to `end`, where a line ends.
  LiteralSearch(std::span<char const> text, LiteralTable const& literals, std::size_t begin, std::size_t end)
      : text_(text),
        literals_(literals),
        end_(end),
        steps_{.left = static_cast<std::int32_t>(std::min(steps_a_byte * (end - begin) + least_steps, most_steps))} {}

  /// Begin of the first line with a literal, from `at` on, where a line begins; the end if there is none.
  std::size_t line_from(std::size_t at) {
    if (steps_.left >= 0) {
      std::size_t const found = window_from(at);
      if (found == end_) return end_;
      at = line_of(found, at);
      if (steps_.left >= 0) return at;
    }
    std::size_t const found = literal_from(at);
    return found == end_ ? end_ : line_of(found, at);
  }

 private:
  /// The automaton takes some twenty times as long for a byte of the text as it takes to compare a byte of a literal.
  static constexpr std::size_t steps_a_byte = 32, least_steps = 4096, most_steps = std::size_t{1} << 30U;

  /// The beginning of the line that contains `place`. It is `from`, where a line begins, or behind it.
  std::size_t line_of(std::size_t place, std::size_t from) const {
    void const* const before = place == from ? nullptr : memrchr(text_.data() + from, '\n', place - from);
    return before == nullptr ? from : static_cast<std::size_t>(static_cast<char const*>(before) - text_.data()) + 1;
  }
  /// Place of the last byte of the literal that ends first, from the line at `at` on; the end if there is none.
  std::size_t literal_from(std::size_t at) const {
    for (std::uint32_t node = 0; at < end_; ++at) {
      node = literals_.next_node(node, static_cast<unsigned char>(text_[at]));
      if (node != 0 && literals_.is_literal(node)) return at;
    }
    return end_;
  }
  /// Place of the first window of a literal, or where too few steps are left to tell.
  std::size_t window_from(std::size_t at) {
    constexpr std::uint32_t eight = as_bit(LiteralWindow::eight), four = as_bit(LiteralWindow::four);
    switch (literals_.header().windows) {
      case eight:
        return window_of<eight>(at);
      case four:
        return window_of<four>(at);
      case eight | four:
        return window_of<eight | four>(at);
      default:
        return window_of<(1U << literal_windows) - 1>(at);
    }
  }
  /// The same for tables that have no other windows than these.
  template <std::uint32_t some>
  std::size_t window_of(std::size_t at) {
    LiteralHeader const& header = literals_.header();
    std::uint32_t const windows = header.windows & some, stride = header.stride;
    std::uint32_t const* const filter = literals_.filter();
    std::array<std::uint32_t, 2> bytes{};
    auto const is_here = [&](std::uint32_t these) {
      return literal_at<some>(literals_, filter, these, bytes[0], bytes[1], text_.data(), text_.size(), at, steps_);
    };
    // One of the windows of eight bytes of each literal behind `at` is found, wherever the strides begin to count.
    std::size_t const step = some == as_bit(LiteralWindow::eight) ? stride : 1;
    for (; at < end_ && text_.size() - at >= sizeof bytes; at += step) {
      std::memcpy(bytes.data(), text_.data() + at, sizeof bytes);
      if (is_here(step == 1 ? windows_at(at, windows, stride) : windows)) return at;
    }
    if (windows == as_bit(LiteralWindow::eight)) return end_;
    for (; at < end_; ++at) {  // No bytes follow the text. A literal that seems to go on there is not found.
      bytes = {};
      std::memcpy(bytes.data(), text_.data() + at, text_.size() - at);
      if (is_here(windows & ~as_bit(LiteralWindow::eight))) return at;
    }
    return end_;
  }

  std::span<char const> const text_;
  LiteralTable const literals_;
  std::size_t const end_;
  LiteralSteps steps_;
};

}  // namespace penstock
