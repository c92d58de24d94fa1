// SPDX-License-Identifier: Apache-2.0
#include "penstock/decoding/compression.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace penstock {
namespace {

/// The bytes that a member begins with, where the mask has ones.
struct Magic {
  Compression compression;
  bool skippable;
  std::array<std::uint8_t, input_magic_bytes> bytes;
  std::array<std::uint8_t, input_magic_bytes> mask;
  std::size_t size = magic_bytes;

  bool fits(std::span<std::byte const> first) const noexcept {
    for (std::size_t k = 0; k < std::min(first.size(), size); ++k) {
      if ((std::to_integer<std::uint8_t>(first[k]) & mask.at(k)) != bytes.at(k)) return false;
    }
    return true;
  }
};

/// A text may begin with the first four bytes that bzip2 writes, so the block behind them counts, too.
///
/// Source: RFC 1952, 2.3 (of the flags three bits are always 0); RFC 8878, 3.1.1 and 3.1.2; the format of lz4 frames,
///         1.6.1; the .xz file format 1.2.1, 2.1.1.1; the program bzip2 1.0.8, compress.c; .ZIP file format 6.3.10,
///         4.3.7.
constexpr std::array all_magic{
    Magic{Compression::gzip, false, {0x1f, 0x8b, 0x08, 0x00}, {0xff, 0xff, 0xff, 0xe0}},
    Magic{Compression::zstd, false, {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}},
    Magic{Compression::zstd, true, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}},
    Magic{Compression::lz4, false, {0x04, 0x22, 0x4d, 0x18}, {0xff, 0xff, 0xff, 0xff}},
    Magic{Compression::lz4, true, {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}},
    Magic{Compression::xz, false, {0xfd, '7', 'z', 'X', 'Z', 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 6},
    Magic{Compression::bzip2,
          false,
          {'B', 'Z', 'h', '0', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59},
          {0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
          10},
    Magic{Compression::zip, false, {'P', 'K', 3, 4}, {0xff, 0xff, 0xff, 0xff}},
};

}  // namespace

std::optional<Compression> compression_of(std::span<std::byte const> first, bool all) noexcept {
  auto const* const found = std::ranges::find_if(all_magic, [&](Magic const& magic) { return magic.fits(first); });
  if (found == all_magic.end()) return Compression::none;
  if (first.size() >= found->size) return found->compression;
  if (all) return Compression::none;
  return std::nullopt;
}

bool may_begin_member(Compression compression, std::span<std::byte const> first) noexcept {
  return std::ranges::any_of(all_magic,
                             [&](Magic const& magic) { return magic.compression == compression && magic.fits(first); });
}

bool begins_skippable(std::span<std::byte const> first) noexcept {
  return first.size() >= magic_bytes &&
         std::ranges::any_of(all_magic, [&](Magic const& magic) { return magic.skippable && magic.fits(first); });
}

char const* name_of(Compression compression) noexcept {
  constexpr std::array names{"", "gzip", "zstd", "lz4", "xz", "bzip2", "zip"};
  return names.at(static_cast<std::size_t>(compression));
}

std::string why_not_decoded(Compression compression) {
  if (compression < Compression::xz) return {};
  std::string const name = name_of(compression);
  bool const zip = compression == Compression::zip;
  return "it is compressed by " + name + ", which is not decoded here: decode it first, `" +
         (zip ? "unzip" : name + " -dk") + " FILE`, or give what `" + (zip ? "unzip -p" : name + " -dc") +
         " FILE` prints as standard input";
}

}  // namespace penstock
