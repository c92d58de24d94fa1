// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include <linux/if_packet.h>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// A network interface, as far as captures are concerned.
struct CapturedInterface {
  std::string name;
  int index = 0;
  std::uint32_t link = 0;  ///< LINKTYPE_ number.
  bool loopback = false;

  /// Throws: as PacketSource, if there is no such interface, it is down, or its packets are of another kind.
  static CapturedInterface find(std::string const& name);
};

/// A socket of AF_PACKET, and the ring that it shares with the system, block by block.
///
/// Threads: one at a time; `statistics` any.
class PacketRing {
 public:
  struct Statistics {
    std::uint64_t captured = 0;  ///< Packets put into the ring.
    std::uint64_t dropped = 0;
  };

  /// Makes a ring that captures nothing yet. The packets of the interface are distributed among rings of the same
  /// group.
  ///
  /// Throws: as PacketSource.
  PacketRing(CapturedInterface const& interface, std::size_t bytes, unsigned wait_ms);
  PacketRing(PacketRing const&) = delete;
  PacketRing& operator=(PacketRing const&) = delete;
  ~PacketRing();

  /// Joins a group of rings, or makes one; returns its number.
  std::uint16_t join(std::optional<std::uint16_t> group);
  /// Begins to capture at most `longest` bytes of each packet.
  void begin(std::size_t longest);
  void be_promiscuous();

  /// The oldest block that the system has released; null if there is none.
  tpacket_block_desc* block() const noexcept;
  /// Returns that block to the system.
  void give_back() noexcept;
  /// Throws: Error of kind system, if the interface is down. The system reports it once.
  void expect_up() const;

  int descriptor() const noexcept { return socket_.number; }
  bool ethernet() const noexcept;
  Statistics statistics() const;

 private:
  void set(int level, int name, void const* value, std::size_t bytes, char const* what) const;
  void filter(std::uint32_t longest) const;

  CapturedInterface const interface_;
  Descriptor const socket_;
  std::byte* ring_ = nullptr;
  std::size_t blocks_ = 0;
  std::size_t next_ = 0;  ///< Index of the block that the system releases next.
  mutable std::mutex mutex_;
  mutable Statistics statistics_;  ///< Totals so far; the system resets its counts at each query.
};

}  // namespace penstock
