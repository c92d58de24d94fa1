// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace penstock {

/// How bytes are compressed. Compressed bytes are one member after the other: members of gzip, frames of zstd or lz4.
/// Frames that are skippable may be in front of frames of zstd or lz4, and the first one behind them says which. Those
/// from xz on are recognised, and not decoded.
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

/// So many bytes say what member they begin, of those that are decoded.
constexpr std::size_t magic_bytes = 4;
/// So many bytes say how an input is compressed.
constexpr std::size_t input_magic_bytes = 10;

/// How an input is compressed that begins with these bytes; nothing if that needs more of it, which it never does of
/// `all` of it, nor of input_magic_bytes. An input that ends within the first bytes of a format is of that format, if
/// these are bytes that no text has.
std::optional<Compression> compression_of(std::span<std::byte const> first, bool all) noexcept;

/// True if a member can begin so, as far as the bytes go. A skippable frame is one of zstd and of lz4, and each of
/// these is one of an input that begins with a skippable frame.
bool may_begin_member(Compression compression, std::span<std::byte const> first) noexcept;

/// True if a skippable frame begins with these magic_bytes.
bool begins_skippable(std::span<std::byte const> first) noexcept;

/// As a text names it; empty for none.
char const* name_of(Compression compression) noexcept;

/// Why an input that is compressed so is not decoded, and what to do; empty if it is decoded, and for none.
std::string why_not_decoded(Compression compression);

}  // namespace penstock
