// SPDX-License-Identifier: Apache-2.0
// The place of IP in a packet of each link, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/packets/packet_octets.hpp"

namespace penstock {

/// Contents of a packet at a place: an EtherType, or one of the formats below.
struct PacketLayer {
  std::uint32_t type = 0;
  std::uint32_t at = 0;
};

/// Formats that are no EtherType.
namespace layer {
inline constexpr std::uint32_t none = 0x10000;          ///< It is neither IP nor in front of it, or it was not
                                                        ///< captured.
inline constexpr std::uint32_t unknown_link = 0x10001;  ///< A link without a rule here; its number is in place of `at`.
inline constexpr std::uint32_t ip = 0x10002;            ///< Any version of IP.
inline constexpr std::uint32_t ethernet = 0x10003;
inline constexpr std::uint32_t type_first = 0x10004;  ///< An EtherType, and what it says behind it.
inline constexpr std::uint32_t llc = 0x10005;
inline constexpr std::uint32_t ppp = 0x10006;
inline constexpr std::uint32_t ppp_framed = 0x10007;  ///< Framing as in HDLC; address and control may be left out.
inline constexpr std::uint32_t pppoe = 0x8864, mpls = 0x8847;
}  // namespace layer

/// An address family of BSD and others, in either byte order, or an EtherType in its place.
PENSTOCK_PARSES_THERE constexpr PacketLayer behind_family(Octets packet, std::uint32_t at, std::uint32_t data) {
  std::uint32_t const little = little_word(packet + at), family = little > 0xFFFF ? big_word(packet + at) : little;
  bool const ip = family == 2 || family == 10 || family == 23 || family == 24 || family == 28 || family == 30;
  return {ip ? layer::ip : family >= 0x600 && family <= 0xFFFF ? family : layer::none, data};
}

/// A frame of IEEE 802.11: only data that is not encrypted has more layers.
PENSTOCK_PARSES_THERE constexpr PacketLayer begin_of_wireless(Octets packet, std::uint32_t bytes, std::uint32_t at,
                                                              bool padded) {
  if (at + 24 > bytes) return {layer::none, at};
  std::uint32_t const kind = packet[at], flags = packet[at + 1];
  bool const data = (kind & 0x0CU) == 8 && (kind & 0x40U) == 0, quality = (kind & 0x80U) != 0;
  bool const encrypted = (flags & 0x40U) != 0, first = (packet[at + 22] & 0xFU) == 0;
  if (!data || encrypted || !first) return {layer::none, at};
  std::uint32_t header = 24;
  if ((flags & 3U) == 3) header += 6;
  bool const several = quality && at + header < bytes && (packet[at + header] & 0x80U) != 0;
  if (quality) header += (flags & 0x80U) != 0 ? 6 : 2;
  if (padded) header = (header + 3) / 4 * 4;
  // The first of several frames in one counts.
  return {layer::llc, at + header + (several ? 14 : 0)};
}
PENSTOCK_PARSES_THERE constexpr PacketLayer begin_of_radiotap(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  if (at + 8 > bytes) return {layer::none, at};
  std::uint32_t const fields = little_word(packet + at + 4);
  std::uint32_t flags = at + 8;
  for (std::uint32_t more = fields; (more >> 31U) != 0 && flags + 4 <= bytes; flags += 4) {
    more = little_word(packet + flags);
  }
  if ((fields & 1U) != 0) flags = at + (flags - at + 7) / 8 * 8 + 8;  // The flags follow a time.
  bool const padded = (fields & 2U) != 0 && flags < bytes && (packet[flags] & 0x20U) != 0;
  return begin_of_wireless(packet, bytes, at + little_half(packet + at + 2), padded);
}

/// A message of the netfilter log: fields, one of which is the packet. Their numbers have the byte order of the machine
/// that captured.
PENSTOCK_PARSES_THERE constexpr PacketLayer begin_in_log(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  at += 4;
  while (at + 4 <= bytes) {
    bool const little = packet[at + 3] == 0;
    std::uint32_t const length = little ? little_half(packet + at) : big_half(packet + at);
    std::uint32_t const kind = little ? little_half(packet + at + 2) : big_half(packet + at + 2);
    if (kind == 9) return {layer::ip, at + 4};
    if (length < 4) break;
    at += (length + 3) / 4 * 4;
  }
  return {layer::none, at};
}

PENSTOCK_PARSES_THERE constexpr PacketLayer begin_of_relay(Octets packet, std::uint32_t bytes, std::uint32_t at) {
  while (at < bytes && (packet[at] & 1U) == 0) ++at;  // The last octet of the address has a 1.
  ++at;
  if (at + 4 > bytes) return {layer::none, at};
  if (packet[at] != 3) return {layer::type_first, at};
  ++at;
  if (packet[at] == 0) ++at;
  if (packet[at] == 0xCC || packet[at] == 0x8E) return {layer::ip, at + 1};
  return packet[at] == 0x80 ? PacketLayer{layer::type_first, at + 4} : PacketLayer{layer::none, at};
}

/// The beginning of a packet of a link from `at` on, which is in the packet or at its end. Parts that were not captured
/// are at `bytes` or behind it.
///
/// Source: https://www.tcpdump.org/linktypes.html
PENSTOCK_PARSES_THERE constexpr PacketLayer begin_of_link(Octets packet, std::uint32_t bytes, std::uint32_t link,
                                                          std::uint32_t at) {
  std::uint32_t const there = bytes - at;
  PacketLayer const cut{layer::none, bytes};
  switch (link) {
    case 1:  // Ethernet
      return {layer::ethernet, at};
    case 0:    // Loopback of BSD
    case 108:  // Loopback of OpenBSD
      return there >= 4 ? behind_family(packet, at, at + 4) : cut;
    case 109:  // Decrypted by OpenBSD
      return there >= 12 ? behind_family(packet, at, at + 12) : cut;
    case 6:  // Token Ring
      if (there < 15 || (packet[at + 1] & 0xC0U) != 0x40) return cut;
      return {layer::llc, at + 14 + ((packet[at + 8] & 0x80U) != 0 ? packet[at + 14] & 0x1FU : 0)};
    case 8:  // SLIP
      return {layer::ip, at + 16};
    case 9:   // PPP
    case 50:  // PPP with framing as HDLC, or HDLC of Cisco
      return {layer::ppp_framed, at};
    case 51:  // PPPoE without Ethernet
      return {layer::pppoe, at};
    case 166:  // PPP of pppd: a direction in place of the address
      return {layer::ppp, at + 2};
    case 204:  // PPP with a direction
      return {layer::ppp_framed, at + 1};
    case 10:  // FDDI
      return there >= 13 && (packet[at] & 0xF0U) == 0x50 ? PacketLayer{layer::llc, at + 13} : cut;
    case 12:  // Raw IP
    case 14:
    case 101:
    case 228:
    case 229:
      return {layer::ip, at};
    case 100:  // ATM, RFC 1483
      return {layer::llc, at};
    case 106:  // Linux Classical IP over ATM
      return there >= 1 && packet[at] == 0xAA ? PacketLayer{layer::llc, at} : PacketLayer{layer::ip, at};
    case 104:  // HDLC of Cisco
      return {layer::type_first, at + 2};
    case 205:  // Cisco HDLC with a direction
      return {layer::type_first, at + 3};
    case 107:  // Frame Relay
      return begin_of_relay(packet, bytes, at);
    case 206:  // Frame Relay with a direction
      return begin_of_relay(packet, bytes, at + 1);
    case 105:  // IEEE 802.11
      return begin_of_wireless(packet, bytes, at, false);
    case 119:  // IEEE 802.11 with a header of Prism, or of AVS
      if (there < 8) return cut;
      if ((big_word(packet + at) & 0xFFFFF000U) != 0x80211000U) {
        return begin_of_wireless(packet, bytes, at + 144, false);
      }
      [[fallthrough]];
    case 163:  // IEEE 802.11 with a header of AVS
      return there >= 8 ? begin_of_wireless(packet, bytes, at + big_half(packet + at + 6), false) : cut;
    case 127:  // IEEE 802.11 with radiotap
      return begin_of_radiotap(packet, bytes, at);
    case 113:  // Linux cooked; 4 is LLC, and what is less than an EtherType is neither
      if (there < 16) return cut;
      if (big_half(packet + at + 14) == 4) return {layer::llc, at + 16};
      return {big_half(packet + at + 14) < 0x600 ? layer::none : big_half(packet + at + 14), at + 16};
    case 276:  // Version 2
      if (there < 20) return cut;
      if (big_half(packet + at) == 4) return {layer::llc, at + 20};
      return {big_half(packet + at) < 0x600 ? layer::none : big_half(packet + at), at + 20};
    case 117:  // Log of OpenBSD's packet filter
      return there >= 1 ? PacketLayer{layer::ip, at + (packet[at] + 3U) / 4 * 4} : cut;
    case 122:  // Fibre Channel
      return {layer::llc, at + 16};
    case 138:  // FireWire
      return {layer::type_first, at + 16};
    case 219:
      return {layer::mpls, at};
    case 226:  // Solaris ipnet
      return there >= 2 && (packet[at + 1] == 2 || packet[at + 1] == 26) ? PacketLayer{layer::ip, at + 24} : cut;
    case 239:  // Netfilter log
      return there >= 4 && (packet[at] == 2 || packet[at] == 10) ? begin_in_log(packet, bytes, at) : cut;
    case 240:  // netANALYZER
      return {layer::ethernet, at + 4};
    case 241:  // Ethernet with a preamble
      return {layer::ethernet, at + 12};
    case 242:  // InfiniBand
      return there >= 44 ? PacketLayer{big_half(packet + at + 40), at + 44} : cut;
    case 259:  // EPON
      return {layer::ethernet, at + 8};
    case 274:  // Frames that may be interrupted: only whole ones
      return there >= 8 && packet[at + 7] == 0xD5 ? PacketLayer{layer::ethernet, at + 8} : cut;
    case 281:  // Tags of switches
    case 284:
      return {layer::type_first, at + 16};
    case 282:
      return {layer::ethernet, at + 4};
    case 285:
      return {layer::type_first, at + 20};
    default:
      return {layer::unknown_link, link};
  }
}

}  // namespace penstock
