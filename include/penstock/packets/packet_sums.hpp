// SPDX-License-Identifier: Apache-2.0
// Packets of captures: counted, checked, and added up by flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// The properties that packets of one flow share. A flow has one direction: answers are another flow.
///
/// Packets of an unknown link form a flow, too: its version is 0, and the ports have the number of the link, LINKTYPE_
/// or DLT_, the lower half in `source_port`.
struct FlowKey {
  /// Addresses as in the packet; an IPv4 address has the first four bytes, the others are 0.
  std::array<std::uint8_t, 16> source = {}, target = {};
  std::uint16_t source_port = 0;  ///< For TCP, UDP, UDP-Lite, DCCP and SCTP; 0 for others, and for fragments behind the
                                  /// first.
  std::uint16_t target_port = 0;
  std::uint8_t protocol = 0;  ///< Protocol above IP: 6 is TCP, 17 is UDP.
  std::uint8_t version = 0;   ///< 4 or 6; 0 if the link is unknown.

  friend bool operator==(FlowKey const&, FlowKey const&) = default;
  friend auto operator<=>(FlowKey const&, FlowKey const&) = default;
};

/// Time of a packet without one, such as a simple packet of pcapng.
inline constexpr std::uint64_t no_packet_time = ~std::uint64_t{0};
/// Time of a packet whose nanoseconds exceed 64 bits: later than the 21st of July 2554.
inline constexpr std::uint64_t late_packet_time = no_packet_time - 1;

/// Entry of a table of flows, the same on host and GPU. A free entry has only 0 bytes.
struct PacketFlow {
  std::uint32_t state = 0;  ///< 0 if it is free.
  std::uint32_t flags = 0;  ///< Flags of all its TCP packets, 1 for FIN to 128 for CWR.
  FlowKey key = {};
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< Bytes on the wire, captured or not.
  /// Times of its first and its last packet, in nanoseconds since 1970. `first` is no_packet_time if no packet has a
  /// time.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Adds the flows of a table, such as a lane's, to `flows`, which are sorted by key without duplicates, and stay so.
/// Free entries of the table are skipped.
void add_flows(std::span<PacketFlow const> table, std::vector<PacketFlow>& flows);

/// Describes a flow: protocol, source, target, packets, bytes, first and last time in seconds, and the flags of TCP as
/// letters, or `-`: `tcp 127.0.0.1:37910 [::1]:7000 111 7403 1627225020.731640000 1627225026.624285000 APSF`. An
/// unknown time is `-`, and `>18446744073` stands for all later times.
std::string describe(PacketFlow const& flow);

/// Counts of all packets, the same on host and GPU.
struct PacketTotals {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;           ///< Bytes on the wire.
  std::uint64_t captured_bytes = 0;  ///< Bytes in the capture.
  std::uint64_t ipv4 = 0;            ///< Packets.
  std::uint64_t ipv6 = 0;            ///< Packets.
  std::uint64_t other = 0;      ///< Packets of other kinds or unknown links, or whose headers were not captured whole.
  std::uint64_t fragments = 0;  ///< Packets that are fragments.
  std::uint64_t bad_headers = 0;         ///< IPv4 packets with a wrong header checksum.
  std::uint64_t checked = 0;             ///< TCP, UDP, ICMP and ICMPv6 packets that were whole and have a checksum.
  std::uint64_t bad = 0;                 ///< Number of these packets with a wrong checksum.
  std::uint64_t without_flow = 0;        ///< IP packets for whose flow the table had no room.
  std::uint64_t bytes_without_flow = 0;  ///< Bytes of the packets without flow.
  std::uint64_t late_times = 0;          ///< Packets whose time is late_packet_time.
  /// Packets whose checksum was not verified, since a routing header of an unknown type hides their destination.
  std::uint64_t unknown_routes = 0;

  /// Adds the counts of other packets.
  PacketTotals& operator+=(PacketTotals const& more) noexcept;
  friend bool operator==(PacketTotals const&, PacketTotals const&) = default;
};

/// Packet data that sum_packets could not use: unknown links, times, routes, and packets for whose flow there was no
/// room. All of it is counted in `totals`, so none is `lost`.
std::vector<LeftOut> left_out_of(PacketTotals const& totals, std::span<PacketFlow const> flows);

/// The packets of one tile: its bytes, and the places of its records (RecordPlaces, with CaptureNotes).
struct PacketInput {
  DeviceSpan<std::byte const> records;
  DeviceSpan<std::byte const> places;
};

/// Adds the packets of each input to `totals` and to `flows`. In a tunnel the outermost IP header counts. On a GPU one
/// kernel processes up to 32 inputs.
///
/// Links are identified by their LINKTYPE_ numbers: those of kernels/packets/packet_links.hpp, such as Ethernet, raw
/// IP, Linux cooked, loopback, PPP, IEEE 802.11. IP may be preceded by VLAN tags, MPLS, PPPoE, LLC with SNAP, and
/// others. A checksum covers the final destination, as a source route, a routing header or the address of a mobile node
/// states it.
///
/// Shape:   memory of the stream's device, or mapped; `totals` has one element. `flows` has a power of two, and its
///          places are free or from calls before. A flow for which 64 places in a row are taken has none.
/// Threads: any; other calls may add to the same memory at the same time.
/// Blocks:  never; results are valid once `stream` has passed this call.
/// Throws:  Error, if a number of elements does not fit or the launch is refused. On the CPU device a launch may
///          allocate.
/// Source:  RFC 768, 791, 1071, 1122, 2675, 4302, 6275, 6554, 8200, 8754, 9293.
void sum_packets(std::span<PacketInput const> inputs, DeviceSpan<PacketTotals> totals, DeviceSpan<PacketFlow> flows,
                 StreamRef stream, unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void sum_packets_prepare(StreamRef stream);

}  // namespace penstock
