// SPDX-License-Identifier: Apache-2.0
// A network between clients and a server, which tests part.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "engine/core/descriptor.hpp"

namespace penstock::support {

/// Passes on bytes between TCP clients and a server on a unix socket. While it is parted it passes on none, and both
/// sides keep their connections.
///
/// Threads: any.
class NetworkBetween {
 public:
  enum class Way : unsigned char { to_server = 1, to_client = 2 };

  /// Shape: `server` is the path of its socket.
  explicit NetworkBetween(std::string server);
  NetworkBetween(NetworkBetween const&) = delete;
  NetworkBetween& operator=(NetworkBetween const&) = delete;
  ~NetworkBetween();

  unsigned port() const noexcept { return port_; }
  /// Connections that clients made, also those for which there was no server.
  unsigned connections() const noexcept { return connections_; }
  /// Returns once there were as many more.
  void await_connections(unsigned more) const;
  /// Passes on nothing this way from now on.
  void part(Way way);
  /// Returns once bytes wait that go this way.
  void await_waiting(Way way) const;
  /// Passes on all that waits, and what comes later.
  void join();
  /// Closes all connections, with what waits in them, and joins.
  void cut();

 private:
  struct Pair {
    explicit Pair(int accepted) : client(accepted) {}
    Descriptor client, server;
  };

  void work(std::stop_token const& stop);
  void accept_one();
  /// False once the one end has closed, or the other takes nothing.
  static bool pass_on(int from, int to);
  bool is_parted(Way way) const { return (parted_ & static_cast<unsigned>(way)) != 0; }

  std::string const server_;
  Descriptor listening_;
  unsigned port_ = 0;
  std::atomic<unsigned> connections_{0};
  std::mutex mutable mutex_;  ///< Guards all below.
  unsigned parted_ = 0;
  std::list<Pair> pairs_;
  std::jthread thread_;
};

}  // namespace penstock::support
