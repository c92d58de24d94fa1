// SPDX-License-Identifier: Apache-2.0
// Captured packets, as pcap and pcapng files have them.
#pragma once

#include <cstdint>

#include "penstock/framing.hpp"

namespace penstock {

/// The packets of captures in the formats pcap and pcapng, of either byte order: each input says by its first bytes
/// which it is. A record is a packet with the header that the file has in front of it, or another block of a pcapng
/// file. What stages have to know of it is in CaptureNotes.
///
/// All packets of an input have one type of link and one unit of time; an input with several fails, and so does one
/// whose times have an offset. A stream is looked at once 4096 bytes of it have come, or it has ended.
///
/// Source: IETF, draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
FramingRef captured_packets();

/// Framing::notes of a capture.
struct CaptureNotes {
  enum Format : std::uint32_t { pcap, pcapng };
  std::uint32_t format = pcap;
  std::uint32_t swapped = 0;  ///< 1 if numbers have the other byte order than this machine's.
  std::uint32_t link = 0;     ///< LINKTYPE_ number.
  /// How many units of time a second has, as pcapng writes it: a power of ten, or of two with the highest bit set.
  std::uint32_t time_unit = 6;

  static CaptureNotes of(std::array<std::uint32_t, 3> const& notes) noexcept {
    return {notes[0] & 0xFFU, notes[0] >> 8U & 1U, notes[1], notes[2]};
  }
  std::array<std::uint32_t, 3> words() const noexcept { return {format | swapped << 8U, link, time_unit}; }
};

}  // namespace penstock
