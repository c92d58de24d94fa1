// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

namespace penstock {

/// An address as the system takes it.
struct NetAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  sockaddr* raw() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr const* raw() const noexcept { return reinterpret_cast<sockaddr const*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
  /// 0, if it has none.
  unsigned port() const noexcept;
  void set_port(unsigned port) noexcept;
  /// The interface that an IPv6 address belongs to; 0, if it says none.
  unsigned scope() const noexcept;
  /// No effect on other addresses.
  void set_scope(unsigned interface) noexcept;
};

/// The address that a socket has.
NetAddress address_of(int socket) noexcept;

/// "127.0.0.1:9000", "[::1]:9000", "/path", "@name"; empty for a socket of the Unix domain that has no name.
std::string text_of(NetAddress const& address);

/// The addresses that "HOST:PORT" means, at least one; the host may be a name, "[::1]", or "*" for all of this machine.
///
/// Blocks: while a name is looked up.
/// Throws: Error of kind bad_argument, if it is no such text; of kind system, if the name is not known.
std::vector<NetAddress> resolve(std::string_view host_and_port, int socket_type);

/// The address of "/path", or of "@name", which has no file.
///
/// Throws: Error of kind bad_argument, if it is empty or too long.
NetAddress unix_address(std::string_view path);

}  // namespace penstock
