// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "penstock/file/open_file.hpp"
#include "penstock/framing.hpp"

namespace penstock {

/// What the first bytes of a text say of it.
struct TextHead {
  std::size_t mark = 0;     ///< Bytes of a byte order mark in front of the text.
  bool ends_by_cr = false;  ///< Its lines end by "\r" alone.
};

/// Number of leading bytes that are searched for "\n": a text whose lines end with "\r" has none there.
constexpr std::size_t text_head_bytes = std::size_t{64} << 10U;

/// What these bytes say, with which an input begins; nothing if that needs more of it, which it never does of `all`
/// that there is, or is to be looked at.
///
/// Throws: FileProblem, if the text is in UTF-16 or UTF-32, or compressed by zlib.
/// Source: Unicode 15, 2.13, table 2-4.
std::optional<TextHead> text_head_of(std::span<std::byte const> first, bool all);

/// True if there is a "\r" or a "\n".
bool has_end_of_line(std::span<std::byte const> text) noexcept;

/// Adds to the first bytes of a text that have no end of a line what is at the first one, if that is not far.
///
/// Blocks: until that was read.
/// Throws: FileProblem.
void add_first_end(OpenFile const& file, std::vector<std::byte>& first);

/// True if records end with "\n".
bool has_lines(Framing const& framing);

/// Makes each "\r" a "\n".
void end_lines_by_lf(std::span<std::byte> text) noexcept;

}  // namespace penstock
