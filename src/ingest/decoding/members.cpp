// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/members.hpp"

#include <algorithm>
#include <array>

#include "ingest/decoding/member_decoder.hpp"

namespace penstock {
namespace {

/// Bytes of the file around one offset. The head of a member of any format fits into them.
class Probe {
 public:
  Probe(ReadCompressed const& read, std::uint64_t offset, std::size_t bytes)
      : bytes_(read(offset, std::span(room_).first(bytes))) {}

  bool has(std::size_t bytes) const noexcept { return bytes_ >= bytes; }
  std::span<std::byte const> all() const noexcept { return std::span(room_).first(bytes_); }
  /// Reads a little-endian number of `bytes` bytes.
  std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t value = 0;
    for (std::size_t k = bytes; k-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(room_.at(at + k));
    return value;
  }

 private:
  std::array<std::byte, 64> room_{};
  std::size_t const bytes_;
};

constexpr std::uint64_t bgzf_bytes = std::uint64_t{1} << 16U;
constexpr std::uint64_t zstd_block_bytes = std::uint64_t{1} << 17U;
/// Maximum number of blocks of a frame that is searched. Programs write blocks of 128 KiB, or the data that they had at
/// a flush.
constexpr std::size_t most_zstd_blocks = 4096;

std::optional<Member> find_bgzf(ReadCompressed const& read, std::uint64_t begin) {
  Probe const head(read, begin, 64);
  constexpr std::uint64_t has_extra = 4;
  if (!head.has(12) || head.number(3, 1) != has_extra) return std::nullopt;
  std::size_t const extra_end = 12 + static_cast<std::size_t>(head.number(10, 2));
  for (std::size_t at = 12; at + 6 <= extra_end && head.has(at + 6);) {
    std::uint64_t const name = head.number(at, 2), bytes = head.number(at + 2, 2);
    if (name == ('B' | 'C' << 8) && bytes == 2) {
      Member member{begin, begin + head.number(at + 4, 2) + 1};
      if (member.end < begin + extra_end + 8) return std::nullopt;
      member.most = Probe(read, member.end - 4, 4).number(0, 4);
      return member.most <= bgzf_bytes ? std::optional(member) : std::nullopt;
    }
    at += 4 + static_cast<std::size_t>(bytes);
  }
  return std::nullopt;
}

std::optional<Member> find_zstd(ReadCompressed const& read, std::uint64_t begin, std::uint64_t most) {
  Probe const head(read, begin, 18);
  if (!head.has(6)) return std::nullopt;
  auto const descriptor = static_cast<unsigned>(head.number(4, 1));
  bool const single_segment = (descriptor & 32U) != 0, has_checksum = (descriptor & 4U) != 0;
  constexpr std::array<std::size_t, 4> dictionary_bytes{0, 1, 2, 4};
  std::array<std::size_t, 4> const size_bytes{single_segment ? 1U : 0U, 2, 4, 8};
  std::size_t const of_size = size_bytes.at(descriptor >> 6U);
  std::size_t const before = 5 + (single_segment ? 0 : 1) + dictionary_bytes.at(descriptor & 3U);
  if (!head.has(before + of_size)) return std::nullopt;
  // A size of two bytes begins at 256.
  std::uint64_t const said = head.number(before, of_size) + (of_size == 2 ? 256 : 0);
  if (of_size != 0 && said > most) return std::nullopt;
  Member member{begin, begin + before + of_size};
  std::size_t blocks = 0;
  for (bool last = false; !last;) {
    Probe const block(read, member.end, 3);
    if (!block.has(3) || ++blocks > most_zstd_blocks) return std::nullopt;
    std::uint64_t const header = block.number(0, 3);
    last = (header & 1U) != 0;
    constexpr std::uint64_t repeated_byte = 1;
    member.end += 3 + ((header >> 1U & 3U) == repeated_byte ? 1 : header >> 3U);
    member.most += zstd_block_bytes;
    if (of_size == 0 && member.most > most) return std::nullopt;
  }
  if (has_checksum) member.end += 4;
  if (of_size != 0) member.most = said;
  return member;
}

std::optional<Member> find_lz4(ReadCompressed const& read, std::uint64_t begin, std::uint64_t most) {
  Probe const head(read, begin, 19);
  if (!head.has(7)) return std::nullopt;
  auto const flags = static_cast<unsigned>(head.number(4, 1));
  bool const block_checksums = (flags & 16U) != 0, says_size = (flags & 8U) != 0, has_checksum = (flags & 4U) != 0;
  auto const kind = static_cast<unsigned>(head.number(5, 1)) >> 4U & 7U;
  if (kind < 4) return std::nullopt;
  std::uint64_t const block_bytes = std::uint64_t{1} << (8 + 2 * kind);
  Member member{begin, begin + 7 + (says_size ? 8 : 0) + ((flags & 1U) != 0 ? 4 : 0)};
  for (;;) {
    Probe const block(read, member.end, 4);
    if (!block.has(4)) return std::nullopt;
    std::uint64_t const header = block.number(0, 4);
    member.end += 4;
    // The highest bit says that the block is not compressed; with it 0 bytes are a block, too.
    if (header == 0) break;
    member.end += (header & 0x7fffffffU) + (block_checksums ? 4 : 0);
    member.most += block_bytes;
    if (member.most > most) return std::nullopt;
  }
  if (has_checksum) member.end += 4;
  return member;
}

}  // namespace

std::optional<Member> find_member(Compression compression, ReadCompressed const& read, std::uint64_t begin,
                                  std::uint64_t size, std::uint64_t most) {
  Probe const head(read, begin, 8);
  if (!head.has(8) || !may_begin_member(compression, head.all())) return std::nullopt;
  std::optional<Member> found;
  if (begins_skippable(head.all())) {
    found = Member{begin, begin + 8 + head.number(4, 4)};
  } else if (compression == Compression::gzip) {
    found = find_bgzf(read, begin);
  } else if (compression == Compression::zstd) {
    found = find_zstd(read, begin, most);
  } else if (compression == Compression::lz4) {
    found = find_lz4(read, begin, most);
  }
  return found && found->end <= size && found->most <= most ? found : std::nullopt;
}

Compression compression_behind_skippable(ReadCompressed const& read) {
  for (std::uint64_t at = 0;;) {
    Probe const head(read, at, 8);
    if (!head.has(8) || !begins_skippable(head.all())) {
      auto const behind = compression_of(head.all(), true);
      return behind == Compression::lz4 ? Compression::lz4 : Compression::zstd;
    }
    at += 8 + head.number(4, 4);
  }
}

}  // namespace penstock
