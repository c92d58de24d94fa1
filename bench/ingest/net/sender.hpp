// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock {

/// Messages to send; they have their length in the first four bytes, the highest first.
struct Load {
  double bytes_per_second = 300e6;  ///< 0: the highest rate possible.
  std::size_t least = 1024, most = 8192;
  unsigned connections = 1;
  unsigned producers = 1;  ///< Producers of the receiver.
  std::uint64_t bytes = 0;
  /// All is sent before any is received, so that the rate is that of the receiver. Only for datagrams.
  bool before = false;
  /// Sixteen datagrams of one length leave as one message, which the system divides (UDP_SEGMENT). So one core sends
  /// more than one core receives.
  bool divided_by_system = false;
  std::size_t receive_buffer = std::size_t{256} << 20;  ///< Receive buffer of the receiver of datagrams.
};

/// A process that sends to a port of this machine, so that its CPU time is not counted with that of the receiver. It is
/// made before the receiver's memory, so that the two share no page that would be copied at a write.
class Sender {
 public:
  Sender(bool datagrams, Load const& load) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) std::abort();
    process_ = fork();
    if (process_ != 0) return;
    close(ends_[0]);
    Messages const all = messages(load);
    std::uint16_t port = 0;
    if (read(ends_[1], &port, sizeof port) != sizeof port) _exit(1);
    double const seconds = datagrams ? send_datagrams(port, load, all) : send_streams(port, load, all);
    _exit(write(ends_[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  void start(std::uint16_t port) {
    if (write(ends_[0], &port, sizeof port) != sizeof port) std::abort();
  }
  /// Waits until all is sent.
  void await_end() {
    if (process_ > 0) waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  /// Seconds for which it has sent, once it has ended; 0, if it could not.
  double seconds() {
    double all = 0;
    return recv(ends_[0], &all, sizeof all, MSG_DONTWAIT) == sizeof all ? all : 0;
  }
  Sender(Sender const&) = delete;
  Sender& operator=(Sender const&) = delete;
  /// Waits for its end. Its exit code is not used: the receiver counts what came.
  ~Sender() {
    close(ends_[0]);
    close(ends_[1]);
    await_end();
  }

 private:
  using WallClock = std::chrono::steady_clock;

  static int connected(std::uint16_t port, int type) {
    int const one = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(one, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) _exit(1);
    return one;
  }
  /// Messages one behind the other, each with its beginning.
  struct Messages {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> lengths;
  };
  static Messages messages(Load const& load) {
    Messages all;
    std::mt19937 random(1);
    for (int k = 0; k < 1024; ++k) {
      std::size_t const length = load.least + random() % (load.most - load.least + 1);
      auto const rest = static_cast<std::uint32_t>(htonl(static_cast<std::uint32_t>(length - 4)));
      std::size_t const at = all.bytes.size();
      all.bytes.resize(at + length, std::byte{7});
      std::memcpy(all.bytes.data() + at, &rest, sizeof rest);
      all.lengths.push_back(length);
    }
    return all;
  }
  /// Waits while more was sent than is due.
  static void keep_to(Load const& load, WallClock::time_point start, std::uint64_t sent) {
    if (load.bytes_per_second == 0) return;
    std::chrono::duration<double> const due(double(sent) / load.bytes_per_second);
    auto const early = std::chrono::duration_cast<std::chrono::nanoseconds>(due - (WallClock::now() - start));
    if (early < std::chrono::microseconds(100)) return;
    timespec const time{.tv_sec = early.count() / 1'000'000'000, .tv_nsec = early.count() % 1'000'000'000};
    ppoll(nullptr, 0, &time, nullptr);
  }
  /// Calls `send` once for each message, from connection to connection.
  static double send_streams(std::uint16_t port, Load const& load, Messages const& all) {
    std::vector<int> sockets;
    for (unsigned k = 0; k < load.connections; ++k) sockets.push_back(connected(port, SOCK_STREAM));
    auto const start = WallClock::now();
    std::uint64_t sent = 0;
    for (std::size_t turn = 0, k = 0, at = 0; sent < load.bytes; ++turn) {
      if (k == all.lengths.size()) k = at = 0;
      int const to = sockets[turn % sockets.size()];
      for (std::size_t part = 0; part < all.lengths[k];) {
        ssize_t const more = ::send(to, all.bytes.data() + at + part, all.lengths[k] - part, MSG_NOSIGNAL);
        if (more <= 0) _exit(1);
        part += static_cast<std::size_t>(more);
      }
      sent += all.lengths[k];
      at += all.lengths[k++];
      keep_to(load, start, sent);
    }
    return std::chrono::duration<double>(WallClock::now() - start).count();
  }
  /// Sends sixteen at a time.
  static double send_datagrams(std::uint16_t port, Load const& load, Messages const& all) {
    int const to = connected(port, SOCK_DGRAM);
    constexpr std::size_t at_once = 16;
    int const each = static_cast<int>(load.most);
    if (load.divided_by_system && setsockopt(to, SOL_UDP, UDP_SEGMENT, &each, sizeof each) != 0) _exit(1);
    auto const start = WallClock::now();
    std::uint64_t sent = 0;
    std::array<mmsghdr, at_once> headers{};
    std::array<iovec, at_once> parts{};
    for (std::size_t k = 0, at = 0; sent < load.bytes;) {
      if (k + at_once > all.lengths.size()) k = at = 0;
      std::size_t const first = at;
      for (std::size_t one = 0; one < at_once; ++one) {
        parts[one] = {const_cast<std::byte*>(all.bytes.data()) + at, all.lengths[k]};  // It is only read.
        headers[one].msg_hdr.msg_iov = &parts[one];
        headers[one].msg_hdr.msg_iovlen = 1;
        sent += all.lengths[k];
        at += all.lengths[k++];
      }
      if (load.divided_by_system) parts[0].iov_len = at - first;
      std::size_t const messages = load.divided_by_system ? 1 : at_once;
      for (std::size_t gone = 0; gone < messages;) {
        int const more = sendmmsg(to, headers.data() + gone, static_cast<unsigned>(messages - gone), 0);
        if (more <= 0) _exit(1);
        gone += static_cast<std::size_t>(more);
      }
      keep_to(load, start, sent);
    }
    return std::chrono::duration<double>(WallClock::now() - start).count();
  }

  pid_t process_ = -1;
  std::array<int, 2> ends_{};
};

}  // namespace penstock
