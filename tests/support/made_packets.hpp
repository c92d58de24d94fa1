// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "penstock/packets/packet_sums.hpp"

namespace penstock::support {

inline std::string of_half(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value)};
}

/// The checksum of RFC 1071.
inline unsigned checksum(std::string bytes) {
  if (bytes.size() % 2 != 0) bytes += '\0';
  unsigned long sum = 0;
  for (std::size_t k = 0; k < bytes.size(); k += 2) {
    sum += static_cast<unsigned char>(bytes[k]) * 256UL + static_cast<unsigned char>(bytes[k + 1]);
  }
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<unsigned>(~sum & 0xFFFF);
}

/// Contents of a packet.
struct PacketPlan {
  FlowKey key = {};
  std::string payload = {};
  unsigned flags = 0x10;
  int vlan_tags = 0;
  unsigned options = 0;   ///< Words of options of IPv4, or extension headers of IPv6.
  unsigned fragment = 0;  ///< Fragment field of IPv4's header, with the bit for more.
  bool bad_header = false, bad_payload = false, no_checksum = false;
};

/// An Ethernet frame by this plan.
inline std::string made_packet(PacketPlan const& plan) {
  bool const four = plan.key.version == 4;
  std::string const source(plan.key.source.begin(), plan.key.source.begin() + (four ? 4 : 16));
  std::string const target(plan.key.target.begin(), plan.key.target.begin() + (four ? 4 : 16));
  std::string behind;
  std::size_t place = 0;  // Place of the checksum.
  std::string const ports = of_half(plan.key.source_port) + of_half(plan.key.target_port);
  switch (plan.key.protocol) {
    case 6:
      behind = ports + std::string(8, 's') + of_half(0x5000 | plan.flags) + std::string(6, '\0') + plan.payload;
      place = 16;
      break;
    case 17:
      behind = ports + of_half(static_cast<unsigned>(8 + plan.payload.size())) + of_half(0) + plan.payload;
      place = 6;
      break;
    case 1:
    case 58:
      behind = of_half(0x0800) + of_half(0) + "idsq" + plan.payload;
      place = 2;
      break;
    default:
      behind = plan.payload;
  }
  if (place != 0 && !plan.no_checksum && plan.fragment == 0) {
    std::string const pseudo =
        source + target + of_half(plan.key.protocol) + of_half(static_cast<unsigned>(behind.size()));
    unsigned sum = checksum((plan.key.protocol == 1 ? "" : pseudo) + behind);
    if (plan.key.protocol == 17 && sum == 0) sum = 0xFFFF;
    behind.replace(place, 2, of_half(plan.bad_payload ? sum ^ 0x0101U : sum));
  }
  std::string ip;
  if (four) {
    unsigned const header = 20 + 4 * plan.options;
    ip = of_half(0x4000 | (header / 4) << 8U) + of_half(static_cast<unsigned>(header + behind.size())) + "id" +
         of_half(plan.fragment) + "\x40" + static_cast<char>(plan.key.protocol) + of_half(0) + source + target +
         std::string(4 * std::size_t{plan.options}, '\1');
    ip.replace(10, 2, of_half(checksum(ip) ^ (plan.bad_header ? 0x0100U : 0U)));
  } else {
    std::string headers;
    for (unsigned k = 0; k < plan.options; ++k) {
      headers += static_cast<char>(k + 1 < plan.options ? 60 : plan.key.protocol) + std::string("\0\1\4\0\0\0\0", 7);
    }
    ip = of_half(0x6000) + of_half(0) + of_half(static_cast<unsigned>(headers.size() + behind.size())) +
         static_cast<char>(plan.options != 0 ? 60 : plan.key.protocol) + "\x40" + source + target + headers;
  }
  std::string frame = "targetsource";
  for (int k = 0; k < plan.vlan_tags; ++k) frame += of_half(k == 0 ? 0x88A8 : 0x8100) + of_half(7);
  frame += of_half(four ? 0x0800 : 0x86DD) + ip + behind;
  // Short frames are padded; the padding belongs to no packet.
  if (frame.size() < 60) frame.resize(60, 'p');
  return frame;
}

}  // namespace penstock::support
