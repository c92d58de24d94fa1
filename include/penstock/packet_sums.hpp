// SPDX-License-Identifier: Apache-2.0
// Packets of captures: counted, checked, and added up by flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/left_out.hpp"
#include "penstock/stream.hpp"

#if defined(PENSTOCK_PER_THREAD) || defined(PENSTOCK_LEGACY) || !defined(PENSTOCK_NO_FLAVOUR)
#include "penstock/flavour.hpp"
#endif

namespace penstock {

/// What packets of one flow have in common. A flow has one direction: answers are another flow.
///
/// Packets of a link that is not known are a flow, too: its version is 0, and the number of the link, LINKTYPE_ or
/// DLT_, is in the ports, the lower half in `source_port`.
struct FlowKey {
  /// As the packet has them; of IPv4 the first four bytes, the others are 0.
  std::array<std::uint8_t, 16> source = {}, target = {};
  std::uint16_t source_port = 0;  ///< Of TCP, UDP, UDP-Lite, DCCP and SCTP; 0 of others, and behind a first fragment.
  std::uint16_t target_port = 0;
  std::uint8_t protocol = 0;  ///< Behind the headers of IP: 6 is TCP, 17 is UDP.
  std::uint8_t version = 0;   ///< 4 or 6; 0 of a link that is not known.

  friend bool operator==(FlowKey const&, FlowKey const&) = default;
  friend auto operator<=>(FlowKey const&, FlowKey const&) = default;
};

/// The time of a packet that has none, as simple packets of pcapng.
inline constexpr std::uint64_t no_packet_time = ~std::uint64_t{0};
/// The time of a packet whose nanoseconds 64 bits do not hold: later than the 21st of July 2554.
inline constexpr std::uint64_t late_packet_time = no_packet_time - 1;

/// A place of a table of flows: the same on host and GPU. All bytes 0: it is free.
struct PacketFlow {
  std::uint32_t state = 0;  ///< 0 if it is free.
  std::uint32_t flags = 0;  ///< Flags of all its TCP packets, 1 for FIN to 128 for CWR.
  FlowKey key = {};
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< That the packets had on the wire, whether captured or not.
  /// Times of its first and its last packet, in nanoseconds since 1970. `first` is no_packet_time if no packet has one.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Adds the flows of a table, such as a lane's, to `flows`, which are in the order of their keys and have each key
/// once. They stay so. Free places of the table are left out.
void add_flows(std::span<PacketFlow const> table, std::vector<PacketFlow>& flows);

/// A flow as words: protocol, source, target, packets, bytes, first and last time in seconds, and the flags of TCP as
/// letters, or `-`: `tcp 127.0.0.1:37910 [::1]:7000 111 7403 1627225020.731640000 1627225026.624285000 APSF`. A time
/// that is not known is `-`, and `>18446744073` stands for all times behind it.
std::string describe(PacketFlow const& flow);

/// What is counted of all packets: the same on host and GPU.
struct PacketTotals {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;           ///< That they had on the wire.
  std::uint64_t captured_bytes = 0;  ///< That the capture has.
  std::uint64_t ipv4 = 0;            ///< Packets.
  std::uint64_t ipv6 = 0;            ///< Packets.
  std::uint64_t other = 0;  ///< Packets of other kinds or of unknown links, or whose headers were not captured whole.
  std::uint64_t fragments = 0;           ///< Packets that are parts of one.
  std::uint64_t bad_headers = 0;         ///< IPv4 packets whose header's checksum is wrong.
  std::uint64_t checked = 0;             ///< TCP, UDP, ICMP and ICMPv6 packets that were whole and have a checksum.
  std::uint64_t bad = 0;                 ///< Those of them whose checksum is wrong.
  std::uint64_t without_flow = 0;        ///< IP packets for whose flow the table had no place.
  std::uint64_t bytes_without_flow = 0;  ///< Of those.
  std::uint64_t late_times = 0;          ///< Packets whose time is late_packet_time.
  /// Packets that would have been checked, but a routing header of an unknown type hides where they go to.
  std::uint64_t unknown_routes = 0;

  /// Adds what was counted of other packets.
  PacketTotals& operator+=(PacketTotals const& more) noexcept;
  friend bool operator==(PacketTotals const&, PacketTotals const&) = default;
};

/// What of packets could not be used, by what sum_packets found: links that are not known, times, routes, and packets
/// for whose flow there was no place. All of it is counted in `totals`, so none is `lost`.
std::vector<LeftOut> left_out_of(PacketTotals const& totals, std::span<PacketFlow const> flows);

/// The packets of one tile: its bytes, and where its records begin (RecordPlaces, with CaptureNotes).
struct PacketInput {
  DeviceSpan<std::byte const> records;
  DeviceSpan<std::byte const> places;
};

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// Adds the packets of each input to `totals` and to `flows`. Of tunnels the outermost IP header counts. On a GPU all
/// inputs are looked at by one kernel, or by one for each 32 of them.
///
/// Links are known by their LINKTYPE_ numbers: those of kernels/packet_links.hpp, as Ethernet, raw IP, Linux cooked,
/// loopback, PPP, IEEE 802.11. In front of IP there may be tags of VLANs, MPLS, PPPoE, LLC with SNAP, and others.
/// A checksum is over the address that the packet goes to at last, as a source route, a routing header or the address
/// of a mobile node says.
///
/// Shape:   memory of the stream's device, or mapped; `totals` has one element. `flows` has a power of two, and its
///          places are free or from calls before. A flow for which 64 places in a row are taken has none.
/// Threads: any; other calls may add to the same memory meanwhile.
/// Blocks:  never; results are valid once `stream` has passed this call.
/// Throws:  Error, if a number of elements does not fit or the launch is refused. On the CPU device a launch may
///          allocate.
/// Source:  RFC 768, 791, 1071, 1122, 2675, 4302, 6275, 6554, 8200, 8754, 9293.
void sum_packets(std::span<PacketInput const> inputs, DeviceSpan<PacketTotals> totals, DeviceSpan<PacketFlow> flows,
                 StreamRef stream, unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void sum_packets_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
