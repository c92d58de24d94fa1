// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/packets/packet_sums.hpp"

namespace penstock {
namespace {

/// Links of captures that do not have IP, or not in a simple way.
///
/// Source: https://www.tcpdump.org/linktypes.html
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 32> unknown_links{{
    {7, "ARCNET"},
    {99, "Symantec Firewall"},
    {114, "LocalTalk"},
    {140, "SS7 MTP2"},
    {141, "SS7 MTP3"},
    {143, "DOCSIS"},
    {144, "IrDA"},
    {177, "LAPD"},
    {187, "Bluetooth HCI"},
    {189, "USB of Linux"},
    {190, "CAN"},
    {195, "IEEE 802.15.4"},
    {197, "Endace ERF"},
    {201, "Bluetooth HCI"},
    {220, "USB of Linux"},
    {224, "Fibre Channel"},
    {227, "SocketCAN"},
    {230, "IEEE 802.15.4"},
    {231, "D-Bus"},
    {243, "MPEG-2 transport stream"},
    {247, "InfiniBand"},
    {248, "SCTP"},
    {249, "USBPcap"},
    {251, "Bluetooth Low Energy"},
    {253, "netlink"},
    {254, "Bluetooth of Linux"},
    {256, "Bluetooth Low Energy"},
    {266, "USB of Darwin"},
    {271, "vsock"},
    {272, "Bluetooth Low Energy of Nordic"},
    {279, "EBHSCR"},
    {283, "IEEE 802.15.4"},
}};

std::string link_text(std::uint32_t link) {
  std::string const number = "link type " + std::to_string(link);
  if (link >= 147 && link <= 162) return number + " (USER" + std::to_string(link - 147) + ")";
  if (link >= 130 && link <= 137) return number + " (Juniper)";
  auto const* const known = std::ranges::find(unknown_links, link, &decltype(unknown_links)::value_type::first);
  return known == unknown_links.end() ? number : number + " (" + std::string(known->second) + ")";
}

}  // namespace

std::vector<LeftOut> left_out_of(PacketTotals const& totals, std::span<PacketFlow const> flows) {
  std::vector<LeftOut> all;
  for (PacketFlow const& flow : flows) {
    if (flow.packets == 0 || flow.key.version != 0) continue;
    std::uint32_t const link = flow.key.source_port | static_cast<std::uint32_t>(flow.key.target_port) << 16U;
    all.push_back({.unit = "packet",
                   .reason = "of " + link_text(link) + ", in which IP is not looked for",
                   .count = flow.packets,
                   .bytes = flow.bytes,
                   .lost = false});
  }
  std::vector<LeftOut> const others{{.unit = "packet",
                                     .reason = "without a place for their flow",
                                     .count = totals.without_flow,
                                     .bytes = totals.bytes_without_flow,
                                     .remedy = "make the table of flows larger",
                                     .lost = false},
                                    {.unit = "packet",
                                     .reason = "with a time later than July 2554, of which nanoseconds are not known",
                                     .count = totals.late_times,
                                     .lost = false},
                                    {.unit = "checksum",
                                     .reason = "over an address that a routing header of an unknown type hides",
                                     .count = totals.unknown_routes,
                                     .lost = false}};
  add_left_out(all, others);
  return all;
}

}  // namespace penstock
