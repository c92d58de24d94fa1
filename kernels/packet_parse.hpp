// SPDX-License-Identifier: Apache-2.0
// What is in a packet, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "penstock/kernels/captured_packet.hpp"
#include "penstock/packet_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// What the headers of a packet say.
struct ParsedPacket {
  FlowKey key = {};  ///< Of version 0 if it is none of IP.
  std::uint32_t flags = 0;
  bool fragment = false;
  bool bad_header = false;
  /// What the checksum behind the headers of IP is over; no bytes if there is none that can be checked.
  std::uint32_t payload = 0, payload_bytes = 0;
  std::uint32_t pseudo_header = 0;  ///< Its sum.
};

/// Where IP begins in a packet of this link; all its bytes, if it does not.
PENSTOCK_PARSES_THERE constexpr std::uint32_t begin_of_ip(Octets packet, std::uint32_t bytes, std::uint32_t link) {
  constexpr std::uint32_t ipv4 = 0x0800, ipv6 = 0x86DD;
  std::uint32_t at = 0;
  switch (link) {
    case 1:
      at = 12;
      break;  // Ethernet
    case 113:
      at = 14;
      break;  // Linux cooked
    case 276:
      at = 0;
      break;  // Linux cooked, version 2
    case 0:   // Loopback, with a family in front
    case 108:
      return bytes < 4 ? bytes : 4;
    case 12:  // Raw IP
    case 14:
    case 101:
    case 228:
    case 229:
      return 0;
    default:
      return bytes;
  }
  for (int tags = 0; tags <= 4; ++tags, at += 4) {
    if (at + 2 > bytes) return bytes;
    std::uint32_t const type = big_half(packet + at);
    if (type == ipv4 || type == ipv6) return link == 276 ? (bytes < 20 ? bytes : 20) : at + 2;
    if (link == 276 || (type != 0x8100 && type != 0x88A8 && type != 0x9100)) return bytes;
  }
  return bytes;
}

/// The sum of bytes by pairs, which begin at an even place.
PENSTOCK_PARSES_THERE constexpr std::uint32_t sum_of_pairs(Octets at, std::uint32_t bytes) {
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k + 1 < bytes; k += 2) sum += big_half(at + k);
  if (bytes % 2 != 0) sum += static_cast<std::uint32_t>(at[bytes - 1]) << 8U;
  return sum;
}
/// True if a sum of all pairs, the checksum among them, is that of a right one.
PENSTOCK_PARSES_THERE constexpr bool is_right(std::uint64_t sum) {
  while (sum >> 16U != 0) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return sum == 0xFFFFU;
}

/// What is behind the headers of IP: `bytes` of it from `at` on, of which `there` were captured.
PENSTOCK_PARSES_THERE constexpr void parse_payload(ParsedPacket& parsed, Octets packet, std::uint32_t at,
                                                   std::uint32_t bytes, std::uint32_t there, bool first) {
  constexpr unsigned icmp = 1, tcp = 6, udp = 17, dccp = 33, icmpv6 = 58, sctp = 132, udp_lite = 136;
  unsigned const protocol = parsed.key.protocol;
  bool const ports = protocol == tcp || protocol == udp || protocol == dccp || protocol == sctp || protocol == udp_lite;
  if (!first) return;
  if (ports && there >= 4) {
    parsed.key.source_port = static_cast<std::uint16_t>(big_half(packet + at));
    parsed.key.target_port = static_cast<std::uint16_t>(big_half(packet + at + 2));
  }
  if (protocol == tcp && there >= 14) parsed.flags = packet[at + 13];
  std::uint32_t const least = protocol == tcp                          ? 20
                              : protocol == udp                        ? 8
                              : protocol == icmp || protocol == icmpv6 ? 4
                                                                       : 0;
  if (least == 0 || parsed.fragment || bytes < least || there < bytes) return;
  if (protocol == udp) {
    // Behind its own length there may be options, which the checksum does not cover.
    std::uint32_t const length = big_half(packet + at + 4);
    if (big_half(packet + at + 6) == 0 || (length != 0 && (length < least || length > bytes))) return;
    if (length != 0) bytes = length;
  }
  parsed.payload = at;
  parsed.payload_bytes = bytes;
  if (protocol == icmp) return;
  std::uint32_t const half = parsed.key.version == 4 ? 4 : 16;
  parsed.pseudo_header = sum_of_pairs(parsed.key.source.data(), half) + sum_of_pairs(parsed.key.target.data(), half) +
                         protocol + (bytes >> 16U) + (bytes & 0xFFFFU);
}

PENSTOCK_PARSES_THERE constexpr void parse_ipv4(ParsedPacket& parsed, Octets packet, std::uint32_t at,
                                                std::uint32_t bytes) {
  std::uint32_t const header = (packet[at] & 0xFU) * 4;
  if (header < 20 || at + header > bytes) return;
  parsed.key.version = 4;
  parsed.key.protocol = packet[at + 9];
  for (unsigned k = 0; k < 4; ++k) {
    parsed.key.source[k] = packet[at + 12 + k];
    parsed.key.target[k] = packet[at + 16 + k];
  }
  parsed.bad_header = !is_right(sum_of_pairs(packet + at, header));
  std::uint32_t const place = big_half(packet + at + 6);
  parsed.fragment = (place & 0x3FFFU) != 0;
  std::uint32_t all = big_half(packet + at + 2);
  if (all == 0) all = bytes - at;  // 0 with segmentation offload: the network card was to fill it in.
  if (all < header) return;
  std::uint32_t const behind = all - header, there = bytes - at - header;
  parse_payload(parsed, packet, at + header, behind, there < behind ? there : behind, (place & 0x1FFFU) == 0);
}

PENSTOCK_PARSES_THERE constexpr void parse_ipv6(ParsedPacket& parsed, Octets packet, std::uint32_t at,
                                                std::uint32_t bytes) {
  if (at + 40 > bytes) return;
  parsed.key.version = 6;
  for (unsigned k = 0; k < 16; ++k) {
    parsed.key.source[k] = packet[at + 8 + k];
    parsed.key.target[k] = packet[at + 24 + k];
  }
  unsigned next = packet[at + 6];
  std::uint32_t behind = big_half(packet + at + 4);
  std::uint32_t there = bytes - at - 40;
  if (behind == 0) behind = there;  // As with IPv4.
  if (there > behind) there = behind;
  at += 40;
  bool first = true, routed = false;
  for (int headers = 0; headers < 8 && first; ++headers) {
    bool const options = next == 0 || next == 43 || next == 60;
    if ((!options && next != 44 && next != 51) || there < 8) break;
    std::uint32_t const length = options ? (packet[at + 1] + 1U) * 8 : next == 44 ? 8 : (packet[at + 1] + 2U) * 4;
    if (length > there) break;
    if (next == 44) {
      std::uint32_t const place = big_half(packet + at + 2);
      parsed.fragment = (place & 0xFFF9U) != 0;
      first = (place & 0xFFF8U) == 0;
    }
    // The checksum is over the last address of the route.
    routed = routed || (next == 43 && packet[at + 3] != 0);
    next = packet[at];
    at += length;
    there -= length;
    behind -= length;
  }
  parsed.key.protocol = static_cast<std::uint8_t>(next);
  parse_payload(parsed, packet, at, behind, there, first);
  if (routed) parsed.payload_bytes = 0;
}

PENSTOCK_PARSES_THERE constexpr ParsedPacket parse_packet(Octets packet, std::uint32_t bytes, std::uint32_t link) {
  ParsedPacket parsed;
  std::uint32_t const at = begin_of_ip(packet, bytes, link);
  if (at + 20 > bytes) return parsed;
  if (packet[at] >> 4U == 4) parse_ipv4(parsed, packet, at, bytes);
  if (packet[at] >> 4U == 6) parse_ipv6(parsed, packet, at, bytes);
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
