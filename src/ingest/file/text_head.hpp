// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ingest/file/open_file.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Properties of a text, as its first bytes tell.
struct TextHead {
  std::size_t mark = 0;     ///< Bytes of a byte order mark in front of the text.
  bool ends_by_cr = false;  ///< Its lines end with "\r" alone.
};

/// Number of leading bytes that are searched for "\n": a text whose lines end with "\r" has none there.
constexpr std::size_t text_head_bytes = std::size_t{64} << 10U;

/// Properties of an input that begins with these bytes; nothing if more bytes are needed, which is never the case if
/// these are `all` bytes of the input, or all to be examined.
///
/// Throws: FileProblem, if the text is in UTF-16 or UTF-32, compressed by zlib, or a tar archive.
/// Source: Unicode 15, 2.13, table 2-4.
std::optional<TextHead> text_head_of(std::span<std::byte const> first, bool all);

/// True if there is a "\r" or a "\n" among these bytes.
bool has_end_of_line(std::span<std::byte const> text) noexcept;

/// Extends the first bytes of a text, which have no end of a line, up to the first one, if that is not far.
///
/// Blocks: until that was read.
/// Throws: FileProblem.
void add_first_end(OpenFile const& file, std::vector<std::byte>& first);

/// True if records end with "\n".
bool has_lines(Framing const& framing);

/// Replaces each "\r" by "\n".
void end_lines_by_lf(std::span<std::byte> text) noexcept;

}  // namespace penstock
