// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/net/count.hpp"
#include "penstock/net/packet_ring.hpp"
#include "penstock/net/receivers.hpp"
#include "penstock/packets.hpp"

namespace penstock {

/// Copies packets of a ring into tiles, each with the header that pcap has in front of it.
///
/// Threads: the one that has its turn; `count_to` any.
class RingReceiver final : public Receiver {
 public:
  /// Of pcap: seconds, nanoseconds, bytes captured, bytes of the packet.
  static constexpr std::size_t head_bytes = 16;
  /// Of a VLAN.
  static constexpr std::size_t tag_bytes = 4;

  /// `ring` outlives it. A tile gets at most so many packets.
  RingReceiver(PacketRing& ring, std::uint64_t number, std::size_t most_packets) noexcept
      : ring_(ring), number_(number), most_packets_(most_packets) {}

  bool receive(Contents& contents) override;
  int descriptor() const noexcept override { return ring_.descriptor(); }
  /// Adds what became of its packets.
  void count_to(PacketCounts& counts) const;

 private:
  bool place(Contents& contents, tpacket3_hdr const& packet);

  PacketRing& ring_;
  std::uint64_t const number_;
  std::size_t const most_packets_;
  std::size_t packets_here_ = 0;     ///< In the tile.
  std::uint32_t left_ = 0;           ///< Packets of the block that are not in tiles yet.
  std::byte const* next_ = nullptr;  ///< The first of them; null before the block was looked at.
  std::uint64_t at_ = 0;             ///< Bytes that went into tiles.
  std::uint64_t counted_at_ = 0;     ///< Packets, when the system was last asked for its counts.
  Count packets_, bytes_, truncated_;
};

}  // namespace penstock
