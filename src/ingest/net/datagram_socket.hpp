// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "engine/machine/net_address.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {

/// A socket that receives datagrams.
///
/// Threads: any, for const functions.
class DatagramSocket {
 public:
  /// Opens as many sockets as the options say for each address of "udp:HOST:PORT".
  ///
  /// Blocks: while a name is looked up.
  /// Throws: as DatagramSource.
  static std::vector<std::unique_ptr<DatagramSocket>> open_all(std::string const& address,
                                                               DatagramSourceOptions const& options);

  DatagramSocket(NetAddress address, DatagramSourceOptions const& options);

  int descriptor() const noexcept { return socket_.number; }
  std::string const& address() const noexcept { return text_; }
  /// Datagrams that the system dropped: there was no room, or a checksum was wrong.
  std::uint64_t dropped() const noexcept;
  /// Number of bytes that wait in the buffer, and its size, both as the system counts.
  struct Buffer {
    std::size_t held = 0, room = 0;
  };
  Buffer buffer() const noexcept;
  /// Size that the system granted; it counts more than the datagrams' own bytes.
  std::size_t receive_buffer() const noexcept;

 private:
  void join(NetAddress const& group, std::string const& interface) const;

  std::string text_;
  Descriptor const socket_;
};

}  // namespace penstock
