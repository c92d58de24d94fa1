// SPDX-License-Identifier: Apache-2.0
// Facts in a record of a capture on its packet, the same on CPU and GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packets/packet_octets.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {

/// A record of a capture.
struct CapturedPacket {
  bool packet = false;     ///< False for any other block of the capture.
  std::uint64_t time = 0;  ///< Nanoseconds since 1970, no_packet_time, or late_packet_time.
  std::uint32_t data = 0;  ///< Offset of its bytes in the tile.
  std::uint32_t captured = 0;
  std::uint32_t original = 0;
  std::uint32_t link = 0;
};

/// Nanoseconds of `units`; late_packet_time if 64 bits do not hold them.
PENSTOCK_PARSES_THERE constexpr std::uint64_t nanoseconds_of(std::uint64_t units, std::uint32_t unit) {
  constexpr std::uint64_t second = 1'000'000'000;
  if ((unit & 0x80U) == 0) {
    for (; unit > 9; --unit) units /= 10;
    for (; unit < 9; ++unit) {
      if (units > late_packet_time / 10) return late_packet_time;
      units *= 10;
    }
    return units < late_packet_time ? units : late_packet_time;
  }
  std::uint32_t bits = unit & 0x7FU;
  for (; bits > 63; --bits) units >>= 1U;
  if (units >> bits >= late_packet_time / second) return late_packet_time;
  std::uint64_t const part = units & ((std::uint64_t{1} << bits) - 1);
  if (bits <= 30) return (units >> bits) * second + (part * second >> bits);
  // The product is made in two steps, since 64 bits do not hold it.
  std::uint64_t const low = part & ((std::uint64_t{1} << (bits - 30)) - 1);
  return (units >> bits) * second + (((part >> (bits - 30)) * second + (low * second >> (bits - 30))) >> 30U);
}

/// The words of a tile's second input, as in RecordPlaces. The begins of records follow a head of eight words.
inline constexpr std::uint32_t places_head = 8;
/// The words of the CaptureKind of a record: its link, unit of time, longest packet, and offset by its halves.
PENSTOCK_PARSES_THERE constexpr std::uint32_t const* capture_kind(std::uint32_t const* places, std::uint32_t record) {
  constexpr std::uint32_t words = 5, first_kind = 2, kinds = 7;
  if (places[kinds] == 0) return places + first_kind;
  std::uint32_t const* const table = places + places_head + places[0];
  std::uint32_t const four = table[words * places[kinds] + record / 4];
  return table + std::size_t{words} * (four >> record % 4 * 8 & 0xFFU);
}

/// Adds seconds to a time; a result before 1970 is 0.
PENSTOCK_PARSES_THERE constexpr std::uint64_t moved_by(std::uint64_t time, std::int64_t seconds) {
  constexpr std::uint64_t second = 1'000'000'000, most = late_packet_time / second;
  bool const back = seconds < 0;
  std::uint64_t by = back ? ~static_cast<std::uint64_t>(seconds) + 1 : static_cast<std::uint64_t>(seconds);
  by = (by > most ? most : by) * second;
  if (time == late_packet_time) return time;
  if (back) return time < by ? 0 : time - by;
  return time >= late_packet_time - by ? late_packet_time : time + by;
}

/// A record of pcap.
PENSTOCK_PARSES_THERE constexpr CapturedPacket pcap_packet(Octets record, std::uint32_t bytes, std::uint32_t flags,
                                                           std::uint32_t unit) {
  constexpr std::uint32_t swapped_lengths = 1, smaller_length = 2;
  bool const swapped = (flags >> 8U & 1U) != 0;
  std::uint32_t const order = flags >> 9U & 3U, head = (flags >> 11U & 1U) != 0 ? 24 : 16;
  CapturedPacket found;
  if (bytes < head) return found;
  std::uint64_t const second = capture_word(record, swapped), part = capture_word(record + 4, swapped);
  std::uint32_t captured = capture_word(record + 8, swapped), original = capture_word(record + 12, swapped);
  if (order == swapped_lengths || (order == smaller_length && original < captured)) {
    std::uint32_t const other = captured;
    captured = original;
    original = other;
  }
  found.packet = true;
  found.time = second * 1'000'000'000 + (unit == 9 ? part : part * 1000);
  found.data = head;
  found.captured = captured;
  found.original = original;
  return found;
}

/// A block of pcapng.
PENSTOCK_PARSES_THERE constexpr CapturedPacket pcapng_packet(Octets record, std::uint32_t bytes, bool swapped,
                                                             std::uint32_t const* kind) {
  CapturedPacket found;
  std::uint32_t const type = bytes < 16 ? 0 : capture_word(record, swapped);
  if (type == 3) {  // Simple: it has no time, and no more captured than its interface says.
    found.packet = true;
    found.time = no_packet_time;
    found.data = 12;
    found.original = capture_word(record + 8, swapped);
    found.captured = kind[2] != 0 && kind[2] < found.original ? kind[2] : found.original;
    if (found.captured > bytes - 16) found.captured = bytes - 16;
  } else if ((type == 2 || type == 6) && bytes >= 32) {
    std::uint64_t const units =
        std::uint64_t{capture_word(record + 12, swapped)} << 32U | capture_word(record + 16, swapped);
    std::uint64_t const offset = kind[3] | std::uint64_t{kind[4]} << 32U;
    found.packet = true;
    found.time = nanoseconds_of(units, kind[1]);
    if (offset != 0) found.time = moved_by(found.time, static_cast<std::int64_t>(offset));
    found.data = 28;
    found.captured = capture_word(record + 20, swapped);
    found.original = capture_word(record + 24, swapped);
  }
  return found;
}

/// The record of this number in a tile; `places` are the words of its second input.
PENSTOCK_PARSES_THERE constexpr CapturedPacket captured_packet(Octets records, std::uint32_t bytes,
                                                               std::uint32_t const* places, std::uint32_t number) {
  std::uint32_t const begin = places[places_head + number];
  std::uint32_t const length = (number + 1 < places[0] ? places[places_head + number + 1] : bytes) - begin;
  std::uint32_t const* const kind = capture_kind(places, number);
  CapturedPacket found = (places[1] & 0xFFU) == 0
                             ? pcap_packet(records + begin, length, places[1], kind[1])
                             : pcapng_packet(records + begin, length, (places[1] >> 8U & 1U) != 0, kind);
  if (!found.packet) return found;
  if (found.captured > length - found.data) found.captured = length - found.data;
  found.data += begin;
  found.link = kind[0];
  return found;
}

}  // namespace penstock
