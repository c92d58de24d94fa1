// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/datagram_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include "ingest/net/address_problem.hpp"

namespace penstock {
namespace {

bool is_multicast(NetAddress const& address) noexcept {
  if (address.family() == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.storage, sizeof in);
    return IN_MULTICAST(ntohl(in.sin_addr.s_addr));
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &address.storage, sizeof in);
  return address.family() == AF_INET6 && IN6_IS_ADDR_MULTICAST(&in.sin6_addr);
}

/// Throws: Error of kind bad_argument, if there is no interface of that name.
unsigned index_of(std::string const& interface) {
  unsigned const index = if_nametoindex(interface.c_str());
  if (index != 0) return index;
  throw Error(ErrorKind::bad_argument, "There is no interface '" + interface + "': `ip link` shows which there are.");
}

bool set(int socket, int level, int name, int value) noexcept {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

/// Memory statistics of a socket; zeros if the system has none.
std::array<std::uint32_t, SK_MEMINFO_VARS> memory_of(int socket) noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t bytes = sizeof memory;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory.data(), &bytes) != 0) return {};
  return memory;
}

}  // namespace

std::vector<std::unique_ptr<DatagramSocket>> DatagramSocket::open_all(std::string const& address,
                                                                      DatagramSourceOptions const& options) {
  if (address.substr(0, 4) != "udp:") {
    throw Error(ErrorKind::bad_argument, "'" + address + "' is no address for datagrams: it begins with udp:.");
  }
  std::vector<std::unique_ptr<DatagramSocket>> all;
  std::optional<AddressProblem> missing;
  for (NetAddress where : resolve(std::string_view(address).substr(4), SOCK_DGRAM)) {
    if (options.sockets > 1 && is_multicast(where)) {
      throw Error(ErrorKind::bad_argument,
                  "Each of several sockets would get all datagrams of " + address + ": receive multicast by one.");
    }
    try {
      for (unsigned k = 0; k < options.sockets; ++k) {
        if (where.port() == 0 && !all.empty()) where.set_port(address_of(all.front()->descriptor()).port());
        all.push_back(std::make_unique<DatagramSocket>(where, options));
      }
    } catch (AddressProblem const& problem) {
      if (!problem.of_missing_version()) throw;
      missing.emplace(problem);
    }
  }
  if (all.empty() && missing) throw AddressProblem(*missing);
  return all;
}

DatagramSocket::DatagramSocket(NetAddress address, DatagramSourceOptions const& options)
    : text_("udp:" + text_of(address)),
      socket_(socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  int const number = socket_.number;
  if (number < 0) throw AddressProblem(text_, errno);
  if (address.family() == AF_INET6) set(number, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (options.sockets > 1) set(number, SOL_SOCKET, SO_REUSEPORT, 1);
  // Other programs on this machine may have joined the group, too.
  if (is_multicast(address)) set(number, SOL_SOCKET, SO_REUSEADDR, 1);
  auto const wanted = static_cast<int>(std::min<std::size_t>(options.receive_buffer, 1U << 30U));
  if (!set(number, SOL_SOCKET, SO_RCVBUFFORCE, wanted)) set(number, SOL_SOCKET, SO_RCVBUF, wanted);
  if (options.coalesce && !set(number, SOL_UDP, UDP_GRO, 1)) throw AddressProblem(text_ + " with UDP_GRO", errno);
  bool const joins = is_multicast(address);
  if (joins && !options.interface.empty()) address.set_scope(index_of(options.interface));
  if (bind(number, address.raw(), address.bytes) != 0) throw AddressProblem(text_, errno);
  if (joins) join(address, options.interface);
  text_ = "udp:" + text_of(address_of(number));
}

void DatagramSocket::join(NetAddress const& group, std::string const& interface) const {
  group_req wanted{};
  wanted.gr_interface = interface.empty() ? group.scope() : index_of(interface);
  std::memcpy(&wanted.gr_group, &group.storage, sizeof wanted.gr_group);
  bool const v4 = group.family() == AF_INET;
  if (setsockopt(socket_.number, v4 ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, &wanted, sizeof wanted) != 0) {
    throw AddressProblem(text_, errno);
  }
  // Otherwise the socket would also get groups that other sockets on this machine joined.
  v4 ? set(socket_.number, IPPROTO_IP, IP_MULTICAST_ALL, 0) : set(socket_.number, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
}

std::uint64_t DatagramSocket::dropped() const noexcept {
  // The same number as SO_RXQ_OVFL delivers with each datagram; that misses datagrams dropped behind the last one.
  return memory_of(socket_.number)[SK_MEMINFO_DROPS];
}

DatagramSocket::Buffer DatagramSocket::buffer() const noexcept {
  auto const memory = memory_of(socket_.number);
  return {memory[SK_MEMINFO_RMEM_ALLOC], memory[SK_MEMINFO_RCVBUF]};
}

std::size_t DatagramSocket::receive_buffer() const noexcept {
  int given = 0;
  socklen_t bytes = sizeof given;
  getsockopt(socket_.number, SOL_SOCKET, SO_RCVBUF, &given, &bytes);
  return static_cast<std::size_t>(given) / 2;  // The system doubles the requested size.
}

}  // namespace penstock
