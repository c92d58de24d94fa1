// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/lz4_parts.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "ingest/decoding/xxhash.hpp"

namespace penstock {
namespace {

constexpr unsigned version_and_independent = 0x60, version_bits = 0xe0, checks_blocks = 0x10, says_bytes = 0x08,
                   checks_all = 0x04, has_dictionary = 0x01;

/// Reads a little-endian number of `bytes` bytes at an offset; nothing if the file ends before.
std::optional<std::uint64_t> number_at(ReadCompressed const& read, std::uint64_t offset, std::size_t bytes) {
  std::array<std::byte, 8> room{};
  if (read(offset, std::span(room).first(bytes)) < bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t k = bytes; k-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(room.at(k));
  return value;
}

/// Check byte of a header: the second lowest byte of its hash.
char check_of(std::span<std::byte const> described) {
  Xxhash32 hash;
  hash.add(described);
  return static_cast<char>(hash.value() >> 8U & 0xffU);
}

std::string header_of(unsigned flags, unsigned kind) {
  std::array const described{static_cast<std::byte>(flags), static_cast<std::byte>(kind)};
  return std::string("\x04\x22\x4d\x18") + static_cast<char>(flags) + static_cast<char>(kind) + check_of(described);
}

}  // namespace

std::optional<Lz4Parts> Lz4Parts::of(ReadCompressed const& read, std::uint64_t begin, std::uint64_t size) {
  auto const magic = number_at(read, begin, 4), flags = number_at(read, begin + 4, 1),
             kind = number_at(read, begin + 5, 1);
  if (!kind || *magic != 0x184d2204 || (*flags & version_bits) != version_and_independent) return std::nullopt;
  if ((*flags & has_dictionary) != 0 || *kind < 0x40 || (*kind & 0x8fU) != 0) return std::nullopt;
  Lz4Parts parts;
  parts.size_ = size;
  parts.at_ = begin + 7;
  parts.block_bytes_ = std::uint64_t{1} << (8 + 2 * (*kind >> 4U));
  parts.has_checksum_ = (*flags & checks_all) != 0;
  if ((*flags & says_bytes) != 0) {
    parts.bytes_ = number_at(read, begin + 6, 8);
    parts.at_ += 8;
  }
  // The header is followed by its check byte.
  std::array<std::byte, 10> header{};
  auto const described = std::span(header).first(static_cast<std::size_t>(parts.at_ - begin) - 5);
  if (read(begin + 4, described) < described.size()) return std::nullopt;
  auto const check = number_at(read, parts.at_ - 1, 1);
  if (!check || static_cast<char>(*check) != check_of(described)) return std::nullopt;
  parts.flags_ = version_and_independent | (static_cast<unsigned>(*flags) & checks_blocks);
  parts.kind_ = static_cast<unsigned>(*kind);
  return parts;
}

FramePart Lz4Parts::next(ReadCompressed const& read, std::uint64_t wanted) {
  FramePart part{at_, at_, 0, header_of(flags_, kind_), {}, first_, has_checksum_};
  first_ = false;
  do {
    auto const header = number_at(read, at_, 4);
    if (header && *header == 0) return end(read, part);
    std::uint64_t const bytes = header.value_or(0) & 0x7fffffffU;
    std::uint64_t const next = at_ + 4 + bytes + ((flags_ & checks_blocks) != 0 ? 4 : 0);
    part.most += block_bytes_;
    if (!header || next > size_ || bytes > block_bytes_) {
      // The decoder will report it.
      ended_ = true;
      part.end = at_ = std::min(size_, at_ + 4 + block_bytes_);
      return part;
    }
    at_ = part.end = next;
  } while (part.most < wanted);
  part.behind = std::string(4, '\0');
  return part;
}

/// The part ends with its frame.
FramePart Lz4Parts::end(ReadCompressed const& read, FramePart part) {
  ended_ = true;
  part.bytes = bytes_;
  if (has_checksum_) {
    auto const checksum = number_at(read, at_ + 4, 4);
    if (!checksum) {
      // A decoder that expects more will report that the frame is incomplete.
      part.before = header_of(flags_ | checks_all, kind_);
      part.end = at_ = size_;
      return part;
    }
    part.checksum = static_cast<std::uint32_t>(*checksum);
  }
  at_ += has_checksum_ ? 8 : 4;
  part.behind = std::string(4, '\0');
  return part;
}

}  // namespace penstock
