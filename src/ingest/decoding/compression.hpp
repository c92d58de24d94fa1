// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace penstock {

/// Compression of an input. Compressed bytes are a sequence of members: members of gzip, frames of zstd or lz4.
/// Skippable frames may precede frames of zstd or lz4; the first other frame then determines the format. The formats
/// from xz on are recognised, but not decoded.
enum class Compression {
  none,
  gzip,
  zstd,
  lz4,
  skippable,
  xz,
  bzip2,
  zip,
  seven_zip,
  compress,
  pack,
  lzh,
  lz4_legacy,
  zstd_legacy,
  lzip,
  lzop,
  lzma,
  rar,
  snappy
};

/// Number of bytes that identify the format of a member that can be decoded.
constexpr std::size_t magic_bytes = 4;
/// Number of bytes that identify the compression of an input.
constexpr std::size_t input_magic_bytes = 10;

/// Returns the compression of an input that begins with these bytes; nothing if more bytes are needed, which is never
/// the case if `all` of it is given, or input_magic_bytes. An input that ends within the first bytes of a format is of
/// that format, if no text has these bytes.
std::optional<Compression> compression_of(std::span<std::byte const> first, bool all) noexcept;

/// True if a member can begin with these bytes, as far as they go. A skippable frame is a member of zstd and of lz4,
/// and both of these may be members of an input that begins with a skippable frame.
bool may_begin_member(Compression compression, std::span<std::byte const> first) noexcept;

/// True if a skippable frame begins with these magic_bytes.
bool begins_skippable(std::span<std::byte const> first) noexcept;

/// Name of the format in messages; empty for none.
char const* name_of(Compression compression) noexcept;

/// The reason why an input of this format is not decoded, and the remedy; empty if it is decoded, and for none.
std::string why_not_decoded(Compression compression);

}  // namespace penstock
