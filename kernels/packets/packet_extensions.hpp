// SPDX-License-Identifier: Apache-2.0
// The headers of IPv6, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/packets/packet_headers.hpp"

namespace penstock {

/// Protocols that are headers of IPv6.
namespace extension {
inline constexpr unsigned hop = 0, routing = 43, fragment = 44, authentication = 51, options = 60;
}

/// Place of the data of an option of `kind` and `bytes` in a header of options; 0 if it has none.
PENSTOCK_PARSES_THERE constexpr std::uint32_t option_at(Octets packet, std::uint32_t at, std::uint32_t header,
                                                        unsigned kind, std::uint32_t bytes) {
  for (std::uint32_t option = at + 2; option + 2 <= at + header;) {
    if (packet[option] == 0) {  // One byte of padding.
      ++option;
      continue;
    }
    std::uint32_t const length = packet[option + 1];
    if (packet[option] == kind && length == bytes && option + 2 + bytes <= at + header) return option + 2;
    option += 2 + length;
  }
  return 0;
}

/// The sum of the packet's final destination address, by a routing header that it has not passed yet.
///
/// Source: RFC 8200, 8.1; RFC 2460, 4.4 (type 0); RFC 6275, 6.4 (type 2); RFC 6554, 3 (type 3); RFC 8754, 2 (type 4).
PENSTOCK_PARSES_THERE constexpr std::uint32_t sum_of_last_address(Octets packet, std::uint32_t at, std::uint32_t header,
                                                                  Octets target, bool& known) {
  std::uint32_t const type = packet[at + 2], addresses = (header - 8) / 16;
  known = addresses != 0 && (type == 0 || type == 2 || type == 4);
  // Type 4 has the last address of the route first.
  if (known) return sum_of_pairs(packet + at + 8 + (type == 0 ? (addresses - 1) * 16 : 0), 16);
  if (type != 3) return 0;
  // Addresses leave out the part that they share with that of the header.
  std::uint32_t const common = packet[at + 4] & 0xFU, padding = packet[at + 5] >> 4U;
  std::uint32_t const own = 16 - common;
  known = header >= 8 + padding + own;
  if (!known) return 0;
  Octets const last = packet + at + header - padding - own;
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < 16; ++k) {
    std::uint32_t const octet = k < common ? target[k] : last[k - common];
    sum += k % 2 == 0 ? octet << 8U : octet;
  }
  return sum;
}

/// Skips one header in front of others; false if it was not captured whole.
PENSTOCK_PARSES_THERE constexpr bool skip_extension(ParsedPacket& parsed, Octets packet, std::uint32_t ip,
                                                    unsigned& next, PacketPayload& payload) {
  std::uint32_t const at = payload.at;
  if (payload.there < 8) return false;
  std::uint32_t const length = next == extension::authentication ? authentication_bytes(packet, payload)
                               : next == extension::fragment     ? 8
                                                                 : (packet[at + 1] + 1U) * 8;
  if (length == 0 || length > payload.there) return false;
  if (next == extension::fragment) {
    std::uint32_t const place = big_half(packet + at + 2);
    parsed.fragment = parsed.fragment || (place & 0xFFF9U) != 0;
    payload.first = (place & 0xFFF8U) == 0;
  } else if (next == extension::options) {
    // The home address of a mobile node stands for its address on the way (RFC 6275, 6.3).
    std::uint32_t const home = option_at(packet, at, length, 201, 16);
    if (home != 0) payload.source_sum = sum_of_pairs(packet + home, 16);
  } else if (next == extension::routing && packet[at + 3] != 0) {
    bool known = false;
    payload.target_sum = sum_of_last_address(packet, at, length, packet + ip + 24, known);
    payload.unknown_route = payload.unknown_route || !known;
  }
  next = packet[at];
  payload.skip(length);
  return true;
}

/// Parses a packet of which `bytes` were captured, and `all` were on the wire.
PENSTOCK_PARSES_THERE constexpr void parse_ipv6(ParsedPacket& parsed, Octets packet, std::uint32_t at,
                                                std::uint32_t bytes, std::uint32_t all) {
  if (at + 40 > bytes) return;
  parsed.key.version = 6;
  for (unsigned k = 0; k < 16; ++k) {
    parsed.key.source[k] = packet[at + 8 + k];
    parsed.key.target[k] = packet[at + 24 + k];
  }
  unsigned next = packet[at + 6];
  PacketPayload payload{.at = at + 40, .bytes = big_half(packet + at + 4), .there = bytes - at - 40};
  if (payload.bytes == 0) {
    payload.bytes = all - at - 40;  // The rest of the packet counts, as with IPv4.
    if (next == extension::hop && payload.there >= 8) {
      // A packet that is too long for the length in its header (RFC 2675).
      std::uint32_t const header = (packet[payload.at + 1] + 1U) * 8;
      std::uint32_t const jumbo = header > payload.there ? 0 : option_at(packet, payload.at, header, 194, 4);
      if (jumbo != 0 && big_word(packet + jumbo) >= header) payload.bytes = big_word(packet + jumbo);
    }
  }
  if (payload.there > payload.bytes) payload.there = payload.bytes;
  payload.source_sum = sum_of_pairs(packet + at + 8, 16);
  payload.target_sum = sum_of_pairs(packet + at + 24, 16);
  // Each header has 8 bytes at least.
  while (payload.first && (next == extension::hop || next == extension::routing || next == extension::fragment ||
                           next == extension::authentication || next == extension::options)) {
    if (!skip_extension(parsed, packet, at, next, payload)) break;
  }
  parsed.key.protocol = static_cast<std::uint8_t>(next);
  parse_payload(parsed, packet, payload);
}

}  // namespace penstock
