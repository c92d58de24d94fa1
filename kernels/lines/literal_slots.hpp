// SPDX-License-Identifier: Apache-2.0
// The hash table of the windows of literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/lines/literal_table.hpp"
#include "kernels/lines/literal_windows.hpp"

namespace penstock {

/// The slots and entries of the chosen windows, and the filter in front of them.
struct LiteralSlots {
  /// `texts` has the offset of each literal in the table's texts.
  LiteralSlots(std::span<std::string_view const> literals, std::span<std::uint32_t const> texts,
               LiteralWindows const& windows);

  std::uint32_t windows = 0;  ///< A bit for each kind.
  std::vector<std::uint32_t> filter = std::vector<std::uint32_t>(literal_filter_words);
  std::vector<LiteralSlot> slots;
  std::vector<std::uint32_t> parts;
  std::vector<LiteralEntry> entries;
  std::size_t most_compared = 0;  ///< Maximum number of literals that are compared at one byte of a text.

 private:
  struct Window {
    std::uint32_t hash, literal, before;
  };
  void add(std::span<Window const> same);
  /// The probe after which the fewest literals are compared; 0 if none helps.
  std::int32_t find_probe(std::span<Window const> same) const;
  std::uint32_t probed(Window const& each, std::int32_t probe) const;

  std::span<std::string_view const> literals_;
  std::span<std::uint32_t const> texts_;
};

}  // namespace penstock
