// SPDX-License-Identifier: Apache-2.0
// The headers of IP and those behind them, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/packets/packet_octets.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {

/// Contents of a packet's headers.
struct ParsedPacket {
  FlowKey key = {};  ///< Its version is 0 if the packet is not IP; then the key has the link, if that is not known.
  std::uint32_t flags = 0;
  bool fragment = false;
  bool bad_header = false;
  bool unknown_link = false;
  bool unknown_route = false;  ///< Its destination, which the checksum covers, cannot be told.
  bool no_checksum = false;    ///< The packet must have a checksum, and has none.
  /// The bytes behind the headers of IP that the checksum covers; none if there is none that can be checked.
  std::uint32_t payload = 0, payload_bytes = 0;
  std::uint32_t pseudo_header = 0;  ///< Sum of the pseudo header.
};

/// Payload behind the headers of IP.
struct PacketPayload {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;  ///< Bytes that it has.
  std::uint32_t there = 0;  ///< Bytes of those that were captured.
  bool first = true;        ///< False for a later fragment.
  bool unknown_route = false;
  /// Sums of the addresses that a pseudo header has: of a packet on its way through others, not those of its header.
  std::uint32_t source_sum = 0, target_sum = 0;

  PENSTOCK_PARSES_THERE constexpr void skip(std::uint32_t header) {
    at += header;
    bytes -= header;
    there -= header;
  }
};

PENSTOCK_PARSES_THERE constexpr void parse_payload(ParsedPacket& parsed, Octets packet, PacketPayload const& payload) {
  constexpr unsigned icmp = 1, tcp = 6, udp = 17, dccp = 33, icmpv6 = 58, sctp = 132, udp_lite = 136;
  unsigned const protocol = parsed.key.protocol;
  bool const ports = protocol == tcp || protocol == udp || protocol == dccp || protocol == sctp || protocol == udp_lite;
  std::uint32_t const at = payload.at, there = payload.there;
  std::uint32_t bytes = payload.bytes;
  if (!payload.first) return;
  if (ports && there >= 4) {
    parsed.key.source_port = static_cast<std::uint16_t>(big_half(packet + at));
    parsed.key.target_port = static_cast<std::uint16_t>(big_half(packet + at + 2));
  }
  if (protocol == tcp && there >= 14) parsed.flags = packet[at + 13];
  std::uint32_t const least = protocol == tcp                          ? 20
                              : protocol == udp                        ? 8
                              : protocol == icmp || protocol == icmpv6 ? 4
                                                                       : 0;
  if (least == 0 || parsed.fragment || bytes < least || there < least) return;
  bool none = false;
  if (protocol == udp) {
    // Options, which the checksum does not cover, may follow the datagram's own length. A length of 0 is that of
    // packets that are too long for the field, which IPv6 may have (RFC 2675).
    std::uint32_t const length = big_half(packet + at + 4);
    bool const six = parsed.key.version == 6;
    none = big_half(packet + at + 6) == 0;
    if ((none && !six) || (length == 0 ? !six : length < least || length > bytes)) return;
    if (length != 0) bytes = length;
  }
  if (there < bytes) return;
  parsed.no_checksum = none;  // RFC 8200, 8.1.
  parsed.unknown_route = payload.unknown_route && !none;
  if (parsed.unknown_route) return;
  parsed.payload = at;
  parsed.payload_bytes = bytes;
  if (protocol == icmp) return;
  parsed.pseudo_header = payload.source_sum + payload.target_sum + protocol + (bytes >> 16U) + (bytes & 0xFFFFU);
}

/// The length of an authentication header, which may be in front of TCP and others; 0 if it was not captured.
///
/// Source: RFC 4302.
PENSTOCK_PARSES_THERE constexpr std::uint32_t authentication_bytes(Octets packet, PacketPayload const& payload) {
  std::uint32_t const length = payload.there < 8 ? 0 : (packet[payload.at + 1] + 2U) * 4;
  return length <= payload.there ? length : 0;
}

/// Place of the last address of a source route among the options of IPv4; that of the header's address, if there is no
/// route or the packet has passed it.
///
/// Source: RFC 791, 3.1; RFC 1122, 4.1.3.4.
PENSTOCK_PARSES_THERE constexpr std::uint32_t last_address(Octets packet, std::uint32_t at, std::uint32_t header) {
  constexpr std::uint32_t loose = 131, strict = 137;
  for (std::uint32_t option = at + 20; option + 2 < at + header && packet[option] != 0;) {
    if (packet[option] == 1) {
      ++option;
      continue;
    }
    std::uint32_t const length = packet[option + 1], next = packet[option + 2];
    if (length < 2 || option + length > at + header) break;
    bool const route = packet[option] == loose || packet[option] == strict;
    if (route && length >= 7 && length % 4 == 3 && next < length) return option + length - 4;
    option += length;
  }
  return at + 16;
}

/// Parses a packet of which `bytes` were captured, and `all` were on the wire.
PENSTOCK_PARSES_THERE constexpr void parse_ipv4(ParsedPacket& parsed, Octets packet, std::uint32_t at,
                                                std::uint32_t bytes, std::uint32_t all) {
  constexpr unsigned authentication = 51;
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
  std::uint32_t length = big_half(packet + at + 2);
  if (length == 0) length = all - at;  // 0 with segmentation offload: the network card was to fill it in.
  if (length < header) return;
  PacketPayload payload{.at = at + header, .bytes = length - header, .there = bytes - at - header};
  if (payload.there > payload.bytes) payload.there = payload.bytes;
  payload.first = (place & 0x1FFFU) == 0;
  while (parsed.key.protocol == authentication && payload.first) {
    std::uint32_t const length_of_it = authentication_bytes(packet, payload);
    if (length_of_it == 0) break;
    parsed.key.protocol = packet[payload.at];
    payload.skip(length_of_it);
  }
  payload.source_sum = sum_of_pairs(packet + at + 12, 4);
  payload.target_sum = sum_of_pairs(packet + last_address(packet, at, header), 4);
  parse_payload(parsed, packet, payload);
}

}  // namespace penstock
