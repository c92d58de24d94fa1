// SPDX-License-Identifier: Apache-2.0
// The packets of a network interface as the source of a pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/framing.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

struct PacketSourceOptions {
  /// Ends the input. The content of a tile leaves with it; packets that were captured and are in no tile are counted.
  std::stop_token stop = {};
  /// Ends the input after this time without a packet. Empty: only a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Maximum number of bytes of a packet; the rest is cut off, and the packet counts as truncated. At most 262,144, and
  /// 20 less than a tile has. 0: that maximum.
  std::size_t longest = 0;
  /// Time that the first bytes of a tile wait for others to fill it. The system passes packets on by blocks of its
  /// ring; a block that is not full waits equally long, in whole milliseconds, before that.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// Number of rings. The system distributes packets to them by flow, and as many producers copy at once. The packets
  /// of one flow and direction stay in order.
  unsigned rings = 1;
  /// Memory of each ring. It must hold the packets that arrive while all tiles are on loan.
  std::size_t ring_bytes = std::size_t{16} << 20;
  /// Captures packets for other machines, too, if the network delivers them.
  bool promiscuous = false;
};

/// Counts of packets so far.
struct PacketCounts {
  std::uint64_t packets = 0;    ///< Packets in tiles.
  std::uint64_t bytes = 0;      ///< Captured bytes of these packets.
  std::uint64_t truncated = 0;  ///< Number of these packets that were longer than `longest`.
  std::uint64_t dropped = 0;    ///< Packets dropped by the system, because a ring was full.
  std::uint64_t waiting = 0;    ///< Packets in a ring; lost once the input has ended.
};

/// Feeds a pipeline with the packets that an interface sends and receives, by rings of AF_PACKET (TPACKET_V3).
///
/// Tiles have the content that they would have from a capture file: each packet is a record of the format pcap with
/// times in nanoseconds, and if tiles have a second input, it has RecordPlaces with CaptureNotes. VLAN tags that a
/// network card removed are put back into the packets. On the loopback interface each packet appears once. Packets that
/// this machine sends are captured before the network card writes their checksums.
///
/// Packets wait in the rings while all tiles are on loan; packets that find no room there are dropped and counted.
///
/// The process needs CAP_NET_RAW in the network namespace of the interface.
///
/// Threads: as Source.
/// Source:  the Linux kernel, Documentation/networking/packet_mmap.rst.
class PacketSource final : public Source {
 public:
  /// Starts to capture at once. `pool` must outlive the source.
  ///
  /// Throws: Error of kind bad_argument: no such interface, one whose packets are neither of Ethernet nor of IP, tiles
  ///         with no room for a packet of `longest` or for places, no ring. Error of kind system: the right to capture
  ///         is missing, the interface is down, or there is no memory for the rings.
  PacketSource(std::string const& interface, Pool const& pool, PacketSourceOptions const& options = {});
  PacketSource(PacketSource const&) = delete;
  PacketSource& operator=(PacketSource const&) = delete;
  ~PacketSource() override;

  /// Blocks: until a packet has come, or the input ends.
  /// Throws: Error of kind system, once the interface is down.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  /// Throws: std::bad_alloc. If the interface is down, the next call of `next` throws.
  std::size_t fill(Tile& tile) override;
  /// Numbers of dropped and truncated packets.
  std::vector<LeftOut> left_out() const override;
  /// Framing of the packets as records.
  Framing const& framing() const noexcept;
  /// Threads: any.
  PacketCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
