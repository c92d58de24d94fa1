// SPDX-License-Identifier: Apache-2.0
// The way from a packet's first byte to its IP header, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/packets/packet_links.hpp"

namespace penstock {

/// The layer behind an EtherType at `at`. A value below all EtherTypes is a length, as in IEEE 802.3.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_type(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  if (at + 2 > bytes) return {layer::none, bytes};
  std::uint32_t const type = big_half(packet + at);
  return {type <= 1500 ? layer::llc : type, at + 2};
}

/// Source: IEEE 802.2, RFC 1042, RFC 2684, RFC 2427.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_llc(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  constexpr std::uint32_t ip_service = 0x06, network_service = 0xFE, subnetwork_service = 0xAA;
  if (at + 4 > bytes || packet[at + 2] != 3 || packet[at] != packet[at + 1]) return {layer::none, at};
  if (packet[at] == ip_service) return {layer::ip, at + 3};
  if (packet[at] == network_service) {
    return {packet[at + 3] == 0xCC || packet[at + 3] == 0x8E ? layer::ip : layer::none, at + 4};
  }
  if (packet[at] != subnetwork_service || at + 8 > bytes) return {layer::none, at};
  std::uint32_t const owner = big_half(packet + at + 3) << 8U | packet[at + 5], type = big_half(packet + at + 6);
  if (owner == 0 || owner == 0xF8) return {type <= 1500 ? layer::none : type, at + 8};
  // These are bridged frames, with their checksum or without it.
  if (owner == 0x80C2 && (type == 1 || type == 7)) return {layer::ethernet, at + 10};
  return {layer::none, at};
}

/// Source: RFC 1661, and RFC 3032 for MPLS.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_ppp(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  if (at + 2 > bytes) return {layer::none, bytes};
  bool const short_one = (packet[at] & 1U) != 0;  // The high octet may be left out, since it would be even.
  std::uint32_t const protocol = short_one ? packet[at] : big_half(packet + at);
  std::uint32_t const data = at + (short_one ? 1 : 2);
  if (protocol == 0x21 || protocol == 0x57) return {layer::ip, data};
  return {protocol == 0x281 || protocol == 0x283 ? layer::mpls : layer::none, data};
}
/// Source: RFC 1662; the other addresses are of Cisco.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_ppp_frame(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  if (at + 2 > bytes) return {layer::none, bytes};
  if (packet[at] == 0x0F || packet[at] == 0x8F) return {layer::type_first, at + 2};
  return {layer::ppp, at + (packet[at] == 0xFF && packet[at + 1] == 3 ? 2 : 0)};
}

PENSTOCK_PARSES_THERE constexpr bool is_frame_with_ip(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  std::uint32_t const type = at + 14 <= bytes ? big_half(packet + at + 12) : 0;
  return type == 0x0800 || type == 0x86DD || type == 0x8100 || type == 0x88A8;
}
/// Labels do not say what follows them: IP by its version, or else an Ethernet frame, which a word may precede.
///
/// Source: RFC 3032, RFC 4448, RFC 4928.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_labels(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  bool last = false;
  for (; !last && at + 4 <= bytes; at += 4) last = (packet[at + 2] & 1U) != 0;
  if (!last || at >= bytes) return {layer::none, at};
  std::uint32_t const version = packet[at] >> 4U;
  if (version == 4 || version == 6) return {layer::ip, at};
  bool const word =
      version == 0 && at + 4 <= bytes && (big_word(packet + at) == 0 || is_frame_with_ip(packet, bytes, at + 4));
  if (word) return {layer::ethernet, at + 4};
  return {is_frame_with_ip(packet, bytes, at) && version != 1 ? layer::ethernet : layer::none, at};
}

/// Source: RFC 8300.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_service_header(Octets packet, std::uint32_t bytes,
                                                                  std::uint32_t at) {
  if (at + 8 > bytes) return {layer::none, bytes};
  std::uint32_t const header = (packet[at + 1] & 0x3FU) * 4, next = packet[at + 3];
  if (header < 8) return {layer::none, at};
  return {next == 1 || next == 2 ? layer::ip
          : next == 3            ? layer::ethernet
          : next == 5            ? layer::mpls
                                 : layer::none,
          at + header};
}

/// One step towards IP; layer::none if it leads nowhere.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_layer(Octets packet, std::uint32_t bytes, PacketLayer from) {
  std::uint32_t const at = from.at;
  switch (from.type) {
    case layer::ethernet:
      return behind_type(packet, bytes, at + 12);
    case layer::type_first:
      return behind_type(packet, bytes, at);
    case layer::llc:
    case 0x8870:  // Long frames
      return behind_llc(packet, bytes, at);
    case layer::ppp_framed:
      return behind_ppp_frame(packet, bytes, at);
    case layer::ppp:
    case 0x880B:
      return behind_ppp(packet, bytes, at);
    case layer::pppoe:  // RFC 2516; only sessions have data.
      return at + 6 <= bytes && packet[at + 1] == 0 ? PacketLayer{layer::ppp, at + 6} : PacketLayer{layer::none, at};
    case layer::mpls:
    case 0x8848:
      return behind_labels(packet, bytes, at);
    case 0x8100:  // Tags of VLANs
    case 0x88A8:
    case 0x9100:
    case 0x9200:
      return behind_type(packet, bytes, at + 2);
    case 0x8926:  // Tags of ports, and of redundant rings
    case 0x892F:
      return behind_type(packet, bytes, at + 4);
    case 0x893F:
      return behind_type(packet, bytes, at + 6);
    case 0x88E7:  // A frame of a customer, in one of a provider
      return {layer::ethernet, at + 4};
    case 0x6558:  // A bridged frame
      return {layer::ethernet, at};
    case 0x894F:
      return behind_service_header(packet, bytes, at);
    default:
      return {layer::none, at};
  }
}

/// Place of IP in a packet of this link, or layer::none, or layer::unknown_link.
PENSTOCK_PARSES_THERE constexpr PacketLayer begin_of_ip(Octets packet, std::uint32_t bytes, std::uint32_t link) {
  std::uint32_t begin = 0;
  // Two links name the link of each packet in front of it.
  for (bool apple = link == 258; link == 192 || apple; apple = link == 258) {
    std::uint32_t const there = bytes - begin;
    if (there < 12) return {layer::none, bytes};
    std::uint32_t const length = apple ? little_word(packet + begin) : little_half(packet + begin + 2);
    if (length < 8 || length > there) return {layer::none, bytes};
    link = little_word(packet + begin + (apple ? 8 : 4));
    begin += length;
  }
  PacketLayer at = begin_of_link(packet, bytes, link, begin);
  // Each step goes on in the packet.
  while (at.type != layer::none && at.type != layer::unknown_link) {
    if (at.type == layer::ip || at.type == 0x0800 || at.type == 0x86DD) {
      return at.at < bytes ? PacketLayer{layer::ip, at.at} : PacketLayer{layer::none, bytes};
    }
    at = behind_layer(packet, bytes, at);
  }
  return at;
}

}  // namespace penstock
