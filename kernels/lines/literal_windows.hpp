// SPDX-License-Identifier: Apache-2.0
// The choice of the windows by which literals are searched for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/lines/literal_table.hpp"

namespace penstock {

LiteralWindow window_of(std::string_view literal);
std::size_t bytes_of(LiteralWindow window);
/// Hash of the window that begins with the text's first byte.
std::uint32_t hash_of(LiteralWindow window, std::string_view text);

/// The windows of each literal that are searched for: those that are rare in the text and that few literals share. So
/// the text has few candidates, and few literals are compared at each. A bad choice costs time only.
class LiteralWindows {
 public:
  /// Counts the windows of the literals in a sample of the text. Without one, a few phrases of logs are the sample.
  LiteralWindows(std::span<std::string_view const> literals, std::string_view sample);

  /// Chooses windows of the stride that makes the least work, of those up to `most_stride`.
  void choose(std::uint32_t most_stride);

  std::uint32_t stride() const noexcept { return stride_; }
  /// Number of consecutive windows of this literal that are searched for.
  std::uint32_t count(std::size_t literal) const;
  /// Position of the first of them in each literal.
  std::span<std::uint32_t const> begins() const noexcept { return begins_; }

 private:
  struct Seen {
    std::uint64_t window = 0;
    std::uint32_t shared = 0;  ///< Number of times that literals have it. 0: this element is free.
    std::uint32_t chosen = 0;  ///< Number of literals for which it is chosen.
    std::uint32_t rate = 0;    ///< Number of times that a text of a certain length has it.
  };
  Seen& seen(LiteralWindow window, char const* at);
  /// The work that the choice makes in such a text, in look-ups of the filter.
  std::uint64_t choose_by(std::uint32_t stride);
  std::uint32_t best_begin(std::string_view literal, std::uint32_t side_by_side);
  std::uint32_t most_stride() const;

  std::span<std::string_view const> literals_;
  std::vector<Seen> seen_;
  std::vector<std::uint64_t> work_;  ///< Of the windows of one literal.
  std::vector<std::uint32_t> begins_;
  std::uint32_t stride_ = 1;
};

}  // namespace penstock
