// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/ring_receiver.hpp"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_ether.h>

namespace penstock {
namespace {

/// Position of a VLAN tag in Ethernet: behind both addresses.
constexpr std::size_t before_tag = 12;

/// Number of packets between two queries of the system's counts, which have 32 bits.
constexpr std::uint64_t between_counts = std::uint64_t{1} << 20;

}  // namespace

bool RingReceiver::receive(Contents& contents) {
  if (contents.bytes == 0) packets_here_ = 0;
  tpacket_block_desc* const block = ring_.block();
  if (block == nullptr) {
    // Skipped for a tile that has packets: that one leaves, and the next call for a tile gets the error.
    if (contents.bytes == 0) ring_.expect_up();
    return false;
  }
  if (next_ == nullptr) {
    left_ = block->hdr.bh1.num_pkts;
    next_ = reinterpret_cast<std::byte const*>(block) + block->hdr.bh1.offset_to_first_pkt;
  }
  for (; left_ > 0; --left_) {
    auto const& packet = *reinterpret_cast<tpacket3_hdr const*>(next_);
    if (!place(contents, packet)) {
      contents.full = true;
      return true;
    }
    next_ += packet.tp_next_offset;
  }
  next_ = nullptr;
  ring_.give_back();
  if (std::uint64_t const packets = packets_.now(); packets - counted_at_ >= between_counts) {
    counted_at_ = packets;
    ring_.statistics();
  }
  return true;
}

/// Copies a packet; false if there is no room for it.
bool RingReceiver::place(Contents& contents, tpacket3_hdr const& packet) {
  auto const* const data = reinterpret_cast<std::byte const*>(&packet) + packet.tp_mac;
  bool const tagged =
      (packet.tp_status & TP_STATUS_VLAN_VALID) != 0 && ring_.ethernet() && packet.tp_snaplen >= before_tag;
  std::size_t const tag = tagged ? tag_bytes : 0, bytes = packet.tp_snaplen + tag;
  if (head_bytes + bytes > contents.room().size() || packets_here_ == most_packets_) return false;
  std::array<std::uint32_t, 4> const head{packet.tp_sec, packet.tp_nsec, static_cast<std::uint32_t>(bytes),
                                          static_cast<std::uint32_t>(packet.tp_len + tag)};
  std::byte* to = contents.room().data();
  std::memcpy(to, head.data(), head_bytes);
  to += head_bytes;
  if (tagged) {
    bool const says_type = (packet.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    std::array<std::uint16_t, 2> const words{htons(says_type ? packet.hv1.tp_vlan_tpid : std::uint16_t{ETH_P_8021Q}),
                                             htons(static_cast<std::uint16_t>(packet.hv1.tp_vlan_tci))};
    std::memcpy(to, data, before_tag);
    std::memcpy(to + before_tag, words.data(), tag_bytes);
    std::memcpy(to + before_tag + tag_bytes, data + before_tag, packet.tp_snaplen - before_tag);
  } else {
    std::memcpy(to, data, packet.tp_snaplen);
  }
  contents.add(number_, at_, head_bytes + bytes);
  at_ += head_bytes + bytes;
  ++packets_here_;
  packets_.add(1);
  bytes_.add(bytes);
  if (packet.tp_snaplen < packet.tp_len) truncated_.add(1);
  return true;
}

void RingReceiver::count_to(PacketCounts& counts) const {
  std::uint64_t const packets = packets_.now();
  auto const of_system = ring_.statistics();
  counts.packets += packets;
  counts.bytes += bytes_.now();
  counts.truncated += truncated_.now();
  counts.dropped += of_system.dropped;
  counts.waiting += of_system.captured - std::min(packets, of_system.captured);
}

}  // namespace penstock
