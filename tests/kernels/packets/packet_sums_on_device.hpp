// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/made_captures.hpp"
#include "support/made_packets.hpp"
#include "support/records_of_text.hpp"
#include <gtest/gtest.h>

#include "kernels/kernels_on_device.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {

/// Counts and flows of all packets.
struct PacketSums {
  PacketTotals totals;
  std::map<FlowKey, PacketFlow> flows;

  void add(support::MadeCapture::Packet const& packet, support::PacketPlan const& plan) {
    std::uint64_t const bytes = packet.original != 0 ? packet.original : packet.bytes.size();
    ++totals.packets;
    totals.bytes += bytes;
    totals.captured_bytes += packet.bytes.size();
    ++(plan.key.version == 4 ? totals.ipv4 : totals.ipv6);
    if (plan.fragment != 0) ++totals.fragments;
    if (plan.bad_header) ++totals.bad_headers;
    unsigned const protocol = plan.key.protocol;
    bool const has_one = protocol == 6 || (protocol == 17 && !plan.no_checksum) || protocol == 1 || protocol == 58;
    if (has_one && plan.fragment == 0 && packet.original == 0) {
      ++totals.checked;
      if (plan.bad_payload) ++totals.bad;
    }
    PacketFlow& flow = flows[plan.key];
    flow.first = flow.packets == 0 ? packet.nanoseconds : std::min(flow.first, packet.nanoseconds);
    flow.last = std::max(flow.last, packet.nanoseconds);
    ++flow.packets;
    flow.bytes += bytes;
    if (protocol == 6) flow.flags |= plan.flags;
  }
};

/// Returns what the device makes of captures, each a tile's.
inline PacketSums sums_of(KernelsOn& on, std::vector<std::string> const& captures, std::size_t places = 4096,
                          unsigned multiprocessors = 0) {
  std::vector<PacketInput> inputs;
  for (std::string const& capture : captures) {
    auto const bytes = support::bytes_of(capture);
    auto const of = captured_packets()->of_input(bytes);
    std::vector<std::byte> table(capture_places_bytes(bytes.size()));
    auto const records = bytes.subspan(of.head);
    table.resize(write_record_places(*of.framing, records.first(of.framing->whole_bytes(records)), table));
    auto const there = on.memory(std::max<std::size_t>(1, records.size())), table_there = on.memory(table.size());
    if (!records.empty()) on.upload(there.first(records.size()), records);
    on.upload(table_there, table);
    inputs.push_back({DeviceSpan<std::byte>(there).subspan(0, records.size()), DeviceSpan<std::byte>(table_there)});
  }
  PacketTotals totals;
  std::vector<PacketFlow> flows(places);
  auto const totals_there = on.memory(sizeof totals), flows_there = on.memory(places * sizeof(PacketFlow));
  on.upload(totals_there, std::as_bytes(std::span(&totals, 1)));
  on.upload(flows_there, std::as_bytes(std::span(flows)));
  sum_packets_prepare(on.stream());
  sum_packets(inputs, DeviceSpan<std::byte>(totals_there).as<PacketTotals>(),
              DeviceSpan<std::byte>(flows_there).as<PacketFlow>(), on.stream(), multiprocessors);
  on.download(std::as_writable_bytes(std::span(&totals, 1)), totals_there);
  on.download(std::as_writable_bytes(std::span(flows)), flows_there);
  PacketSums sums{totals, {}};
  for (PacketFlow const& flow : flows) {
    if (flow.state == 0) continue;
    EXPECT_TRUE(sums.flows.emplace(flow.key, flow).second) << "a flow has two places";
  }
  return sums;
}

}  // namespace penstock
