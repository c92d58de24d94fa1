// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>

#include "penstock/packets/packet_sums.hpp"

namespace penstock {
namespace {

std::string address_text(std::array<std::uint8_t, 16> const& address, std::uint16_t port, bool four) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(four ? AF_INET : AF_INET6, address.data(), text.data(), text.size());
  std::string const host = text.data();
  return (four ? host : "[" + host + "]") + ":" + std::to_string(port);
}

std::string seconds_text(std::uint64_t nanoseconds) {
  constexpr std::uint64_t second = 1'000'000'000;
  if (nanoseconds == no_packet_time) return "-";
  if (nanoseconds == late_packet_time) return ">" + std::to_string(late_packet_time / second);
  std::string const part = std::to_string(nanoseconds % second);
  return std::to_string(nanoseconds / second) + "." + std::string(9 - part.size(), '0') + part;
}

std::string protocol_text(unsigned protocol) {
  for (auto const& [number, name] :
       {std::pair{1U, "icmp"}, {6U, "tcp"}, {17U, "udp"}, {58U, "icmp6"}, {132U, "sctp"}}) {
    if (protocol == number) return name;
  }
  return std::to_string(protocol);
}

/// Letters of the flags, CWR first, FIN last.
std::string flags_text(std::uint32_t flags) {
  std::string text;
  for (unsigned k = 8; k-- > 0;) {
    if ((flags >> k & 1U) != 0) text += "FSRPAUEC"[k];
  }
  return text.empty() ? "-" : text;
}

void add(PacketFlow const& from, PacketFlow& to) {
  to.packets += from.packets;
  to.bytes += from.bytes;
  to.flags |= from.flags;
  to.first = std::min(to.first, from.first);
  to.last = std::max(to.last, from.last);
}

}  // namespace

PacketTotals& PacketTotals::operator+=(PacketTotals const& more) noexcept {
  packets += more.packets;
  bytes += more.bytes;
  captured_bytes += more.captured_bytes;
  ipv4 += more.ipv4;
  ipv6 += more.ipv6;
  other += more.other;
  fragments += more.fragments;
  bad_headers += more.bad_headers;
  checked += more.checked;
  bad += more.bad;
  without_flow += more.without_flow;
  bytes_without_flow += more.bytes_without_flow;
  late_times += more.late_times;
  unknown_routes += more.unknown_routes;
  return *this;
}

void add_flows(std::span<PacketFlow const> table, std::vector<PacketFlow>& flows) {
  std::ranges::copy_if(table, std::back_inserter(flows), [](PacketFlow const& flow) { return flow.state != 0; });
  std::ranges::sort(flows, {}, &PacketFlow::key);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < flows.size(); ++k) {
    if (kept != 0 && flows[kept - 1].key == flows[k].key) {
      add(flows[k], flows[kept - 1]);
    } else {
      flows[kept++] = flows[k];
    }
  }
  flows.resize(kept);
}

std::string describe(PacketFlow const& flow) {
  FlowKey const& key = flow.key;
  bool const four = key.version == 4;
  return protocol_text(key.protocol) + " " + address_text(key.source, key.source_port, four) + " " +
         address_text(key.target, key.target_port, four) + " " + std::to_string(flow.packets) + " " +
         std::to_string(flow.bytes) + " " + seconds_text(flow.first) + " " +
         seconds_text(flow.first == no_packet_time ? flow.first : flow.last) + " " + flags_text(flow.flags);
}

}  // namespace penstock
