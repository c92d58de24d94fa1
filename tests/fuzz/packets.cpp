// SPDX-License-Identifier: Apache-2.0
// Any bytes are a capture or are refused; each packet of it is counted once, and its flow has it or none has.
#include <vector>

#include "fuzz/harness.hpp"
#include "support/inline_stream.hpp"

#include "penstock/error.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock::fuzz {
namespace {

/// The records of a capture, where they begin; empty if there are none.
std::vector<std::byte> places_of(Framing const& framing, std::vector<std::byte>& records) {
  std::size_t whole = 0, count = 0;
  try {
    each_record(framing, records, [&](std::span<std::byte const> record) {
      whole += record.size();
      ++count;
    });
  } catch (Error const&) {
    // The whole packets before the damage are a tile.
  }
  records.resize(whole);
  std::vector<std::byte> places(sizeof(RecordPlaces) + count * sizeof(std::uint32_t));
  require(write_record_places(framing, records, places) == places.size(), "each record has a place");
  return places;
}

}  // namespace

void try_input(std::string_view input) {
  auto const bytes = std::as_bytes(std::span(input));
  Framing::OfInput of;
  try {
    of = captured_packets()->of_input(bytes.first(std::min(bytes.size(), captured_packets()->head_bytes())));
  } catch (Error const&) {
    return;
  }
  if (of.head > bytes.size()) return;
  std::vector<std::byte> records(bytes.begin() + static_cast<std::ptrdiff_t>(of.head), bytes.end());
  auto const places = places_of(*of.framing, records);
  std::vector<PacketTotals> totals(1);
  std::vector<PacketFlow> flows(16);
  PacketInput const tile{DeviceSpan<std::byte const>(std::span<std::byte const>(records)),
                         DeviceSpan<std::byte const>(std::span<std::byte const>(places))};
  support::InlineStream stream;
  sum_packets(std::span(&tile, 1), DeviceSpan<PacketTotals>(std::span(totals)),
              DeviceSpan<PacketFlow>(std::span(flows)), StreamRef(stream));
  PacketTotals const& all = totals.front();
  std::uint64_t in_flows = 0, of_unknown_links = 0;
  for (PacketFlow const& flow : flows) (flow.key.version == 0 ? of_unknown_links : in_flows) += flow.packets;
  require(all.packets <= (places.size() - sizeof(RecordPlaces)) / sizeof(std::uint32_t), "a packet is a record");
  require(all.ipv4 + all.ipv6 + all.other == all.packets, "each packet is of one kind");
  require(of_unknown_links <= all.other, "a packet of an unknown link is none of IP");
  require(in_flows + of_unknown_links + all.without_flow >= all.ipv4 + all.ipv6 && in_flows <= all.ipv4 + all.ipv6,
          "each packet of IP has a flow, or is counted without");
  require(all.bad <= all.checked && all.bad_headers <= all.ipv4, "what is wrong was looked at");
}

}  // namespace penstock::fuzz
