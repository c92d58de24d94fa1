// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ingest/net/count.hpp"
#include "ingest/net/packet_ring.hpp"
#include "ingest/net/receivers.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {

/// Copies packets of a ring into tiles, each preceded by its pcap header.
///
/// Threads: the one that has its turn; `count_to` any.
class RingReceiver final : public Receiver {
 public:
  /// Size of a pcap header: seconds, nanoseconds, bytes captured, bytes of the packet.
  static constexpr std::size_t head_bytes = 16;
  /// Size of a VLAN tag.
  static constexpr std::size_t tag_bytes = 4;

  /// `ring` must outlive it. A tile gets at most `most_packets` packets.
  RingReceiver(PacketRing& ring, std::uint64_t number, std::size_t most_packets) noexcept
      : ring_(ring), number_(number), most_packets_(most_packets) {}

  bool receive(Contents& contents) override;
  int descriptor() const noexcept override { return ring_.descriptor(); }
  /// Adds its counts of packets.
  void count_to(PacketCounts& counts) const;

 private:
  bool place(Contents& contents, tpacket3_hdr const& packet);

  PacketRing& ring_;
  std::uint64_t const number_;
  std::size_t const most_packets_;
  std::size_t packets_here_ = 0;     ///< Number of packets in the tile.
  std::uint32_t left_ = 0;           ///< Number of packets of the block that are not in tiles yet.
  std::byte const* next_ = nullptr;  ///< The first of these packets; null before the block was examined.
  std::uint64_t at_ = 0;             ///< Number of bytes put into tiles.
  std::uint64_t counted_at_ = 0;     ///< Number of packets at the last query of the system's counts.
  Count packets_, bytes_, truncated_;
};

}  // namespace penstock
