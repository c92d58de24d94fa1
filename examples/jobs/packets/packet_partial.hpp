// SPDX-License-Identifier: Apache-2.0
// What the job `packets` added up of some captures as a text, which a ledger keeps.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/packets/packet_sums.hpp>

namespace penstock {

inline constexpr std::string_view packet_partial_head = "packets 1";

/// The counts in the order in which a text has them.
inline std::vector<std::uint64_t*> numbers_of(PacketTotals& totals) {
  return {&totals.packets,    &totals.bytes,         &totals.captured_bytes, &totals.ipv4,
          &totals.ipv6,       &totals.other,         &totals.fragments,      &totals.bad_headers,
          &totals.checked,    &totals.bad,           &totals.without_flow,   &totals.bytes_without_flow,
          &totals.late_times, &totals.unknown_routes};
}

/// The bytes of an address, two hexadecimal digits each.
inline std::string address_text(std::array<std::uint8_t, 16> const& address) {
  constexpr char const* digits = "0123456789abcdef";
  std::string text;
  for (std::uint8_t const byte : address) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}
inline std::array<std::uint8_t, 16> address_of(std::string const& text) {
  std::array<std::uint8_t, 16> address{};
  for (std::size_t k = 0; k < address.size() && 2 * k + 2 <= text.size(); ++k)
    std::from_chars(text.data() + 2 * k, text.data() + 2 * k + 2, address[k], 16);
  return address;
}

/// A line for the head, for the counts, and for each flow.
inline std::string packet_partial(PacketTotals totals, std::vector<PacketFlow> const& flows) {
  std::ostringstream text;
  text << packet_partial_head << "\n";
  for (std::uint64_t const* const number : numbers_of(totals)) text << *number << " ";
  text << "\n";
  for (PacketFlow const& flow : flows) {
    FlowKey const& key = flow.key;
    text << unsigned{key.version} << " " << unsigned{key.protocol} << " " << address_text(key.source) << " "
         << address_text(key.target) << " " << key.source_port << " " << key.target_port << " " << flow.flags << " "
         << flow.packets << " " << flow.bytes << " " << flow.first << " " << flow.last << "\n";
  }
  return text.str();
}

/// Adds such a text.
///
/// Throws: Error of kind bad_argument, if another version wrote it.
inline void add_packet_partial(std::string_view added, PacketTotals& totals, std::vector<PacketFlow>& flows) {
  std::istringstream text{std::string(added)};
  std::string head;
  std::getline(text, head);
  if (head != packet_partial_head) {
    throw Error(ErrorKind::bad_argument,
                "Another version of this program worked on the ledger: go on with that one, or make another ledger.");
  }
  PacketTotals more;
  for (std::uint64_t* const number : numbers_of(more)) text >> *number;
  totals += more;
  std::vector<PacketFlow> more_flows;
  unsigned version = 0, protocol = 0;
  std::string source, target;
  PacketFlow flow;
  flow.state = 1;  // It is no free place.
  while (text >> version >> protocol >> source >> target >> flow.key.source_port >> flow.key.target_port >>
         flow.flags >> flow.packets >> flow.bytes >> flow.first >> flow.last) {
    flow.key.version = static_cast<std::uint8_t>(version);
    flow.key.protocol = static_cast<std::uint8_t>(protocol);
    flow.key.source = address_of(source);
    flow.key.target = address_of(target);
    more_flows.push_back(flow);
  }
  add_flows(more_flows, flows);
}

}  // namespace penstock
