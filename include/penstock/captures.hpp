// SPDX-License-Identifier: Apache-2.0
// Captured packets, as pcap and pcapng files have them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/framing.hpp"

namespace penstock {

/// The packets of captures in the formats pcap and pcapng, in either byte order: the first 24 bytes of each input
/// identify its format. A record is a packet with the header that precedes it in the file, or another block of a pcapng
/// file. CaptureNotes has what stages must know of it.
///
/// Interfaces may differ in link type, time unit and time offset; sections may differ in byte order. A section begins a
/// tile. A pcap file may be of a version before 2.4, or of the modified format of A. Kuznetzov (magic number
/// 0xA1B2CD34).
///
/// Source: IETF, draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; libpcap, sf-pcap.c, of the other kinds of pcap.
FramingRef captured_packets();

/// Properties with which packets of a capture were recorded.
struct CaptureKind {
  std::uint32_t link = 0;  ///< LINKTYPE_ number.
  /// Time units per second, in the encoding of pcapng: an exponent of ten, or of two if the highest bit is set.
  std::uint32_t time_unit = 6;
  /// Maximum number of captured bytes of a simple packet; 0: no limit.
  std::uint32_t longest = 0;
  std::int64_t offset = 0;  ///< Seconds to add to each time.

  static constexpr std::size_t words = 5;  ///< Numbers that one kind takes in the notes.
  bool operator==(CaptureKind const&) const = default;
};

/// Framing::notes of a capture.
struct CaptureNotes {
  enum Format : std::uint32_t { pcap, pcapng };
  /// Tells which of the two lengths before a packet is the number of captured bytes.
  enum Lengths : std::uint32_t { first, second, smaller };

  std::uint32_t format = pcap;
  std::uint32_t swapped = 0;  ///< 1 if numbers have the other byte order than this machine's.
  std::uint32_t lengths = first;
  std::uint32_t modified = 0;  ///< 1 if the header of a pcap packet has 24 bytes instead of 16.
  CaptureKind kind = {};       ///< Kind of all packets, if `kinds` is 0.
  /// Number of kinds, if packets of a tile differ. Behind the places of the packets the tile then has these kinds,
  /// CaptureKind::words numbers each, followed by the kind number of each record: four in a number of 32 bits, the
  /// first one in the lowest byte.
  std::uint32_t kinds = 0;

  static CaptureNotes of(Framing::Notes const& notes) noexcept {
    return {notes[0] & 0xFFU,
            notes[0] >> 8U & 1U,
            notes[0] >> 9U & 3U,
            notes[0] >> 11U & 1U,
            {notes[1], notes[2], notes[3], static_cast<std::int64_t>(notes[4] | std::uint64_t{notes[5]} << 32U)},
            notes[6]};
  }
  Framing::Notes words() const noexcept {
    auto const offset = static_cast<std::uint64_t>(kind.offset);
    return {format | swapped << 8U | lengths << 9U | modified << 11U,
            kind.link,
            kind.time_unit,
            kind.longest,
            static_cast<std::uint32_t>(offset),
            static_cast<std::uint32_t>(offset >> 32U),
            kinds};
  }
};

/// Minimum size of the second input for the places of all packets of a tile and their kinds.
constexpr std::size_t capture_places_bytes(std::size_t tile_bytes) {
  constexpr std::size_t least_block = 12, most_kinds = 256;
  return record_places_bytes(tile_bytes, least_block) + (tile_bytes / least_block + 3) / 4 * sizeof(std::uint32_t) +
         most_kinds * CaptureKind::words * sizeof(std::uint32_t);
}

}  // namespace penstock
