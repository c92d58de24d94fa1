// SPDX-License-Identifier: Apache-2.0
// What is in a packet, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"
#include "penstock/kernels/packet_extensions.hpp"
#include "penstock/kernels/packet_layers.hpp"
#include "penstock/packet_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// A record of a capture.
struct CapturedPacket {
  bool packet = false;     ///< Or else another block.
  std::uint64_t time = 0;  ///< In nanoseconds since 1970, no_packet_time, or late_packet_time.
  std::uint32_t data = 0;  ///< Where its bytes begin in the record.
  std::uint32_t captured = 0;
  std::uint32_t original = 0;
};

/// Nanoseconds of so many units; those that 64 bits do not hold are late_packet_time.
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
  // In two steps, since 64 bits do not hold the product.
  std::uint64_t const low = part & ((std::uint64_t{1} << (bits - 30)) - 1);
  return (units >> bits) * second + (((part >> (bits - 30)) * second + (low * second >> (bits - 30))) >> 30U);
}

/// `notes` are those of RecordPlaces.
PENSTOCK_PARSES_THERE constexpr CapturedPacket captured_packet(Octets record, std::uint32_t bytes,
                                                               std::uint32_t const* notes) {
  bool const swapped = (notes[0] >> 8U & 1U) != 0, blocks = (notes[0] & 0xFFU) != 0;
  std::uint32_t const unit = notes[2];
  CapturedPacket found;
  if (!blocks) {
    if (bytes < 16) return found;
    std::uint64_t const second = capture_word(record, swapped), part = capture_word(record + 4, swapped);
    found = {true, second * 1'000'000'000 + (unit == 9 ? part : part * 1000), 16, capture_word(record + 8, swapped),
             capture_word(record + 12, swapped)};
  } else {
    std::uint32_t const type = bytes < 16 ? 0 : capture_word(record, swapped);
    if (type == 3) {  // Simple: it has no time, and its captured length is what there is room for.
      found = {true, no_packet_time, 12, bytes - 16, capture_word(record + 8, swapped)};
      if (found.captured > found.original) found.captured = found.original;
    } else if ((type == 2 || type == 6) && bytes >= 32) {
      std::uint64_t const units =
          std::uint64_t{capture_word(record + 12, swapped)} << 32U | capture_word(record + 16, swapped);
      found = {true, nanoseconds_of(units, unit), 28, capture_word(record + 20, swapped),
               capture_word(record + 24, swapped)};
    }
  }
  if (found.packet && found.captured > bytes - found.data) found.captured = bytes - found.data;
  return found;
}

/// Of `original` bytes on the wire the capture has `bytes`.
PENSTOCK_PARSES_THERE constexpr ParsedPacket parse_packet(Octets packet, std::uint32_t bytes, std::uint32_t original,
                                                          std::uint32_t link) {
  ParsedPacket parsed;
  PacketLayer const ip = begin_of_ip(packet, bytes, link);
  if (ip.type == layer::unknown_link) {
    parsed.key.source_port = static_cast<std::uint16_t>(ip.at);
    parsed.key.target_port = static_cast<std::uint16_t>(ip.at >> 16U);
    parsed.unknown_link = true;
  }
  if (ip.type != layer::ip || ip.at + 20 > bytes) return parsed;
  std::uint32_t const all = original > bytes ? original : bytes;
  if (packet[ip.at] >> 4U == 4) parse_ipv4(parsed, packet, ip.at, bytes, all);
  if (packet[ip.at] >> 4U == 6) parse_ipv6(parsed, packet, ip.at, bytes, all);
  return parsed;
}

PENSTOCK_PARSES_THERE constexpr std::uint32_t mixed(std::uint32_t hash, std::uint32_t word) {
  hash = (hash ^ word) * 0x85EBCA77U;
  return hash ^ hash >> 13U;
}
/// Where to look for a flow in a table.
PENSTOCK_PARSES_THERE constexpr std::uint32_t hash_of(FlowKey const& key) {
  std::uint32_t hash = key.protocol + 0x9E3779B1U * key.version;
  for (unsigned k = 0; k < 16; k += 4) {
    hash = mixed(hash, big_half(key.source.data() + k) << 16U | big_half(key.source.data() + k + 2));
    hash = mixed(hash, big_half(key.target.data() + k) << 16U | big_half(key.target.data() + k + 2));
    if (key.version == 4) break;
  }
  hash = mixed(hash, static_cast<std::uint32_t>(key.source_port) << 16U | key.target_port);
  hash *= 0xC2B2AE3DU;
  return hash ^ hash >> 16U;
}
/// States of a place in a table that is not free.
inline constexpr std::uint32_t flow_is_written = 1;
PENSTOCK_PARSES_THERE constexpr std::uint32_t state_of(std::uint32_t hash) {
  return hash | 2U;
}
inline constexpr std::uint32_t flow_places = 64;

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
