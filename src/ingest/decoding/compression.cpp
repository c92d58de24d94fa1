// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/compression.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace penstock {
namespace {

/// The first bytes of a member; only bits that are set in the mask count.
struct Magic {
  Compression compression;
  std::size_t size = 0;
  std::array<std::uint8_t, input_magic_bytes> bytes = {};
  std::array<std::uint8_t, input_magic_bytes> mask = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

  constexpr Magic(Compression of, std::initializer_list<std::uint8_t> all) : compression(of), size(all.size()) {
    std::copy(all.begin(), all.end(), bytes.begin());
  }
  /// Compares only the bits of `bits` in one byte.
  constexpr Magic with_mask(std::size_t at, std::uint8_t bits) const {
    Magic masked = *this;
    masked.mask.at(at) = bits;
    return masked;
  }
  bool fits(std::span<std::byte const> first) const noexcept {
    for (std::size_t k = 0; k < std::min(first.size(), size); ++k) {
      if ((std::to_integer<std::uint8_t>(first[k]) & mask.at(k)) != bytes.at(k)) return false;
    }
    return true;
  }
};

constexpr Magic skippable_frame = Magic(Compression::skippable, {0x50, 0x2a, 0x4d, 0x18}).with_mask(0, 0xf0);

/// A text may begin with the first four bytes of bzip2, so the bytes behind them are checked, too. Any input that
/// begins with the two bytes of gzip counts as gzip: its decoder refuses unknown variants.
///
/// Source: RFC 1952, 2.3; RFC 8878, 3.1.1 and 3.1.2; zstd 1.5.4, lib/legacy; the format of lz4 frames, 1.6.1; the .xz
///         file format 1.2.1, 2.1.1.1; the program bzip2 1.0.8, compress.c; .ZIP file format 6.3.10, 4.3.7, 4.3.16 and
///         8.5.4; 7zFormat.txt of 7-Zip 22.01; gzip 1.12, gzip.h; lzip 1.23, lzip.h; lzop 1.04, lzop.c;
///         lzma-file-format.txt of XZ Utils 5.4; technote of RAR 5.0; framing_format.txt of snappy.
constexpr std::array all_magic{
    Magic(Compression::gzip, {0x1f, 0x8b}),
    Magic(Compression::zstd, {0x28, 0xb5, 0x2f, 0xfd}),
    Magic(Compression::lz4, {0x04, 0x22, 0x4d, 0x18}),
    skippable_frame,
    Magic(Compression::xz, {0xfd, '7', 'z', 'X', 'Z', 0}),
    Magic(Compression::bzip2, {'B', 'Z', 'h', 0x30, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59}).with_mask(3, 0xf0),
    Magic(Compression::bzip2, {'B', 'Z', 'h', 0x30, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90}).with_mask(3, 0xf0),
    Magic(Compression::zip, {'P', 'K', 3, 4}),
    Magic(Compression::zip, {'P', 'K', 5, 6}),
    Magic(Compression::zip, {'P', 'K', 7, 8}),
    Magic(Compression::seven_zip, {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c}),
    // The third byte has two bits that are always 0.
    Magic(Compression::compress, {0x1f, 0x9d, 0x00}).with_mask(2, 0x60),
    Magic(Compression::pack, {0x1f, 0x1e}),
    Magic(Compression::lzh, {0x1f, 0xa0}),
    Magic(Compression::lz4_legacy, {0x02, 0x21, 0x4c, 0x18}),
    Magic(Compression::zstd_legacy, {0x22, 0xb5, 0x2f, 0xfd}).with_mask(0, 0xfe),
    Magic(Compression::zstd_legacy, {0x24, 0xb5, 0x2f, 0xfd}).with_mask(0, 0xfc),
    Magic(Compression::zstd_legacy, {0x1e, 0xb5, 0x2f, 0xfd}),
    Magic(Compression::lzip, {'L', 'Z', 'I', 'P', 0}).with_mask(4, 0xfe),
    Magic(Compression::lzop, {0x89, 'L', 'Z', 'O', 0, 0x0d, 0x0a, 0x1a, 0x0a}),
    Magic(Compression::lzma, {0x5d, 0, 0}),
    Magic(Compression::rar, {'R', 'a', 'r', '!', 0x1a, 0x07}),
    Magic(Compression::snappy, {0xff, 0x06, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'}),
};

/// Name of a format and the commands that decode it, to a file and to standard output. Without commands penstock
/// decodes the format itself, or it is no format.
struct FormatWords {
  char const* name;
  char const* to_file = nullptr;
  char const* to_output = nullptr;
};
constexpr std::array words{
    FormatWords{""},
    FormatWords{"gzip"},
    FormatWords{"zstd"},
    FormatWords{"lz4"},
    FormatWords{"zstd or lz4"},
    FormatWords{"xz", "xz -dk", "xz -dc"},
    FormatWords{"bzip2", "bzip2 -dk", "bzip2 -dc"},
    FormatWords{"zip", "unzip", "unzip -p"},
    FormatWords{"7-Zip", "7z x", "7z x -so"},
    FormatWords{"compress (.Z)", "gzip -dk", "gzip -dc"},
    FormatWords{"pack (.z)", "gzip -dk", "gzip -dc"},
    FormatWords{"LZH (.z)", "gzip -dk", "gzip -dc"},
    FormatWords{"lz4 in its legacy format", "lz4 -dk", "lz4 -dc"},
    FormatWords{"a version of zstd before 0.8", "zstd -dk", "zstd -dc"},
    FormatWords{"lzip", "lzip -dk", "lzip -dc"},
    FormatWords{"lzop", "lzop -d", "lzop -dc"},
    FormatWords{"LZMA", "xz -dk", "xz --format=lzma -dc"},
    FormatWords{"RAR", "unrar x", "unrar p -inul"},
    FormatWords{"Snappy", "snzip -dk", "snzip -dc"},
};
static_assert(words.size() == static_cast<std::size_t>(Compression::snappy) + 1);

/// True for bytes that no text has.
bool is_control(std::byte one) noexcept {
  auto const value = std::to_integer<unsigned>(one);
  return (value < 0x20 && (value < 0x09 || value > 0x0d) && value != 0x1b) || value >= 0x7f;
}

}  // namespace

std::optional<Compression> compression_of(std::span<std::byte const> first, bool all) noexcept {
  if (first.empty()) return all ? std::optional(Compression::none) : std::nullopt;
  std::optional<Compression> may_be;
  for (Magic const& magic : all_magic) {
    if (!magic.fits(first)) continue;
    if (first.size() >= magic.size) return magic.compression;
    if (!may_be) may_be = magic.compression;
  }
  if (!may_be) return Compression::none;
  if (!all) return std::nullopt;
  return std::ranges::any_of(first, is_control) ? *may_be : Compression::none;
}

bool may_begin_member(Compression compression, std::span<std::byte const> first) noexcept {
  bool const skips =
      compression == Compression::skippable || compression == Compression::zstd || compression == Compression::lz4;
  return std::ranges::any_of(all_magic, [&](Magic const& magic) {
    bool const is_one = magic.compression == compression || (skips && magic.compression == Compression::skippable) ||
                        (compression == Compression::skippable &&
                         (magic.compression == Compression::zstd || magic.compression == Compression::lz4));
    return is_one && magic.fits(first);
  });
}

bool begins_skippable(std::span<std::byte const> first) noexcept {
  return first.size() >= magic_bytes && skippable_frame.fits(first);
}

char const* name_of(Compression compression) noexcept {
  return words.at(static_cast<std::size_t>(compression)).name;
}

std::string why_not_decoded(Compression compression) {
  FormatWords const& format = words.at(static_cast<std::size_t>(compression));
  if (format.to_file == nullptr) return {};
  return std::string("it is compressed by ") + format.name + ", which is not decoded here: decode it first, `" +
         format.to_file + " FILE`, or give what `" + format.to_output + " FILE` prints as standard input";
}

}  // namespace penstock
