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
  /// Ends the input. What is in a tile leaves with it; what was captured and is in no tile is counted.
  std::stop_token stop = {};
  /// Ends the input once nothing has come for so long. Empty: a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// More bytes of a packet are left out, and it is counted as truncated. At most 262,144, and 20 less than a tile has.
  /// 0: as many as that.
  std::size_t longest = 0;
  /// How long the first bytes of a tile wait for others to fill it. The system hands packets over by blocks of its
  /// ring; a block that is not full waits for as long, in whole milliseconds, before that.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// The system shares packets out to so many rings by their flows, and as many producers copy at once. The packets of
  /// one flow and direction stay in order.
  unsigned rings = 1;
  /// Memory of each ring. It must hold what comes while all tiles are out.
  std::size_t ring_bytes = std::size_t{16} << 20;
  /// Packets for other machines, too, where the network brings them.
  bool promiscuous = false;
};

/// What became of packets so far.
struct PacketCounts {
  std::uint64_t packets = 0;    ///< That are in tiles.
  std::uint64_t bytes = 0;      ///< Of those, as captured.
  std::uint64_t truncated = 0;  ///< Of those: longer than `longest`.
  std::uint64_t dropped = 0;    ///< By the system: a ring was full.
  std::uint64_t waiting = 0;    ///< In a ring; once the input has ended, lost.
};

/// Feeds a pipeline with the packets that an interface sends and receives, by rings of AF_PACKET (TPACKET_V3).
///
/// Tiles have what they would have of a capture file: each packet is a record of the format pcap with times in
/// nanoseconds, and if tiles have a second input, it has RecordPlaces with CaptureNotes. VLAN tags that a network card
/// took out are in the packets. On the loopback interface each packet is there once. Packets that this machine sends
/// are captured before the network card writes their checksums.
///
/// While all tiles are out packets wait in the rings, and what finds no room there is dropped and counted.
///
/// The process needs CAP_NET_RAW in the network namespace of the interface.
///
/// Threads: as Source.
/// Source:  the Linux kernel, Documentation/networking/packet_mmap.rst.
class PacketSource final : public Source {
 public:
  /// Captures at once. `pool` outlives the source.
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
  /// Throws: std::bad_alloc. That the interface is down the next call of `next` says.
  std::size_t fill(Tile& tile) override;
  /// What was dropped or truncated.
  std::vector<LeftOut> left_out() const override;
  /// How packets are records.
  Framing const& framing() const noexcept;
  /// Threads: any.
  PacketCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
