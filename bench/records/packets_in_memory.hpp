// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace penstock {

/// The header of a capture file's record: 16 bytes, then the packet.
struct PacketHeader {
  std::uint32_t seconds, fraction, bytes, original;
};
/// Result of a pass over packets.
struct WordSums {
  std::array<std::uint64_t, 256> packets{};  ///< Packets by their protocol.
  std::uint64_t bytes = 0, words = 0;

  void add(std::span<std::byte const> packet) noexcept {
    ++packets[std::to_integer<std::size_t>(packet[9])];
    bytes += packet.size();
    std::size_t at = 0;
    for (; at + 8 <= packet.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &packet[at], sizeof word);
      words += word;
    }
    for (; at < packet.size(); ++at) words += std::to_integer<std::uint64_t>(packet[at]);
  }
  void add(WordSums const& other) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) packets[i] += other.packets[i];
    bytes += other.bytes;
    words += other.words;
  }
  bool operator==(WordSums const&) const = default;
};

/// Packets one after the other, as in a capture, and pieces of whole packets.
class PacketsInMemory {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{128} << 10;
  struct Piece {
    std::span<std::byte const> bytes;
    std::size_t packets = 0;
  };

  /// Makes packets of `least` to `most` bytes each.
  PacketsInMemory(std::uint32_t least, std::uint32_t most) {
    char const* const text = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
    std::size_t const all = (text == nullptr ? std::size_t{1000} : std::strtoull(text, nullptr, 10)) << 20;
    constexpr std::size_t page = 4096;
    room_.resize(all + page);
    void* begin_of_pages = room_.data();
    std::size_t left = room_.size();
    memory_ = {static_cast<std::byte*>(std::align(page, all, begin_of_pages, left)), all};
    std::uint64_t state = 1;
    std::size_t begin = 0, in_piece = 0, at = 0;
    auto const end_piece = [&] {
      pieces_.push_back({memory_.subspan(begin, at - begin), in_piece});
      packets_ += in_piece;
      begin = at;
      in_piece = 0;
    };
    for (;;) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      auto const bytes = least + static_cast<std::uint32_t>(state >> 33U) % (most - least + 1);
      if (at + sizeof(PacketHeader) + bytes > memory_.size()) break;
      if (at + sizeof(PacketHeader) + bytes - begin > piece_bytes) end_piece();
      PacketHeader const header{0, 0, bytes, bytes};
      std::memcpy(&memory_[at], &header, sizeof header);
      std::byte* const packet = &memory_[at + sizeof header];
      std::memset(packet, static_cast<int>(state >> 40U), bytes);
      at += sizeof header + bytes;
      ++in_piece;
    }
    end_piece();
  }
  /// Replaces each other piece by the first one, as if packets from a network always came into the same buffer.
  void repeat_the_first() {
    packets_ = pieces_.size() * pieces_.front().packets;
    pieces_.assign(pieces_.size(), pieces_.front());
  }
  std::span<Piece const> pieces() const noexcept { return pieces_; }
  /// The whole pages that contain all pieces.
  std::span<std::byte const> pages() const noexcept { return memory_; }
  std::uint64_t packets() const noexcept { return packets_; }

 private:
  std::vector<std::byte> room_;
  std::span<std::byte> memory_;  ///< Whole pages of it.
  std::vector<Piece> pieces_;
  std::uint64_t packets_ = 0;
};

/// Calls `found(offset, bytes)` for each packet.
template <class Found>
void for_each_packet(std::span<std::byte const> piece, Found const& found) {
  for (std::size_t at = 0; at < piece.size();) {
    PacketHeader header{};
    std::memcpy(&header, &piece[at], sizeof header);
    found(static_cast<std::uint32_t>(at + sizeof header), header.bytes);
    at += sizeof header + header.bytes;
  }
}

}  // namespace penstock
