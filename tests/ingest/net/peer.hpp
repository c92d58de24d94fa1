// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/machine/net_address.hpp"

namespace penstock::support {

/// A socket that sends to an address of a source.
class Peer {
 public:
  explicit Peer(std::string const& address) {
    bool const is_unix = address.starts_with("unix:");
    int const type = address.starts_with("udp:") ? SOCK_DGRAM : SOCK_STREAM;
    NetAddress const where = is_unix ? unix_address(address.substr(5)) : resolve(address.substr(4), type).front();
    socket_ = socket(where.family(), type | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(socket_, where.raw(), where.bytes), 0) << address << ", errno " << errno;
  }
  Peer(Peer&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Peer& operator=(Peer&&) = delete;
  ~Peer() { end(); }

  /// Blocks: until the system has taken all.
  void send(std::string const& text) const {
    for (std::size_t sent = 0; sent < text.size();) {
      ssize_t const more = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(more, 0) << "errno " << errno;
      sent += static_cast<std::size_t>(more);
    }
  }
  int descriptor() const noexcept { return socket_; }
  std::string address() const { return "udp:" + text_of(address_of(socket_)); }
  void send_datagram(std::string const& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size())) << "errno " << errno;
  }
  /// The text as datagrams of so many bytes, and a shorter last one, which go through the system as one.
  void send_datagrams(std::string const& text, int bytes) const {
    ASSERT_EQ(setsockopt(socket_, SOL_UDP, UDP_SEGMENT, &bytes, sizeof bytes), 0);
    send_datagram(text);
  }
  /// Sends to a group by no other interface.
  void send_by_loopback() const {
    in_addr const loopback{htonl(INADDR_LOOPBACK)};
    EXPECT_EQ(setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback), 0);
  }
  /// Blocks: until the other side has closed.
  bool is_turned_away() const {
    char byte = 0;
    return recv(socket_, &byte, 1, 0) <= 0;
  }
  void end() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  /// Ends so that the other side sees an error. Only for TCP.
  void reset() {
    linger const at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end();
  }

 private:
  int socket_ = -1;
};

}  // namespace penstock::support
