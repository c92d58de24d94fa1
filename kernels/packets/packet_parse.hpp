// SPDX-License-Identifier: Apache-2.0
// Contents of a packet, the same on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/packets/captured_packet.hpp"
#include "kernels/packets/packet_extensions.hpp"
#include "kernels/packets/packet_layers.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {

/// Parses a packet of `original` bytes on the wire, of which the capture has `bytes`.
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
/// Hash of a flow, which says where a table looks for it first.
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

}  // namespace penstock
