// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/net_address.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

template <class As>
As& as(sockaddr_storage& storage) noexcept {
  return reinterpret_cast<As&>(storage);
}

}  // namespace

unsigned NetAddress::port() const noexcept {
  auto& mutable_storage = const_cast<sockaddr_storage&>(storage);
  if (family() == AF_INET) return ntohs(as<sockaddr_in>(mutable_storage).sin_port);
  if (family() == AF_INET6) return ntohs(as<sockaddr_in6>(mutable_storage).sin6_port);
  return 0;
}

void NetAddress::set_port(unsigned port) noexcept {
  auto const number = htons(static_cast<std::uint16_t>(port));
  if (family() == AF_INET) as<sockaddr_in>(storage).sin_port = number;
  if (family() == AF_INET6) as<sockaddr_in6>(storage).sin6_port = number;
}

unsigned NetAddress::scope() const noexcept {
  return family() == AF_INET6 ? as<sockaddr_in6>(const_cast<sockaddr_storage&>(storage)).sin6_scope_id : 0;
}

void NetAddress::set_scope(unsigned interface) noexcept {
  if (family() == AF_INET6) as<sockaddr_in6>(storage).sin6_scope_id = interface;
}

NetAddress address_of(int socket) noexcept {
  NetAddress address;
  address.bytes = sizeof address.storage;
  if (getsockname(socket, address.raw(), &address.bytes) != 0) address.bytes = 0;
  return address;
}

std::string text_of(NetAddress const& address) {
  if (address.family() == AF_UNIX) {
    std::size_t const head = offsetof(sockaddr_un, sun_path);
    if (address.bytes <= head) return {};
    char const* const path = reinterpret_cast<char const*>(address.raw()) + head;
    if (path[0] == '\0') return "@" + std::string(path + 1, address.bytes - head - 1);
    return {path, strnlen(path, address.bytes - head)};
  }
  std::array<char, NI_MAXHOST> host{};
  if (getnameinfo(address.raw(), address.bytes, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  std::string const text = address.family() == AF_INET6 ? "[" + std::string(host.data()) + "]" : host.data();
  return text + ":" + std::to_string(address.port());
}

std::vector<NetAddress> resolve(std::string_view host_and_port, int socket_type) {
  std::size_t const colon = host_and_port.rfind(':');
  auto const port =
      colon == std::string_view::npos ? std::nullopt : whole_number_of(host_and_port.substr(colon + 1), 65535);
  std::string_view host = host_and_port.substr(0, std::min(colon, host_and_port.size()));
  bool const brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (!port || host.empty() || (!brackets && host.find(':') != std::string_view::npos)) {
    throw Error(ErrorKind::bad_argument,
                "'" + std::string(host_and_port) +
                    "' is no address: it is HOST:PORT, as 127.0.0.1:9000, [::1]:9000 or *:9000.");
  }
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = socket_type;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::string const name(host);
  int const problem = getaddrinfo(name == "*" ? nullptr : name.c_str(), std::to_string(*port).c_str(), &wanted, &found);
  if (problem != 0) {
    std::string const why = problem == EAI_SYSTEM ? system_problem(errno) : gai_strerror(problem);
    throw Error(ErrorKind::system, "The address of '" + name + "' is not known: " + why +
                                       "; name a host that `getent hosts` finds, or give its number, as 127.0.0.1.");
  }
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> const all(found, freeaddrinfo);
  std::vector<NetAddress> addresses;
  for (addrinfo const* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    NetAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.bytes = one->ai_addrlen;
  }
  return addresses;
}

NetAddress unix_address(std::string_view path) {
  NetAddress address;
  auto& raw = as<sockaddr_un>(address.storage);
  if (path.size() < (path.substr(0, 1) == "@" ? 2U : 1U) || path.size() >= sizeof raw.sun_path ||
      path.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::bad_argument, "A socket of the Unix domain has a path of 1 to " +
                                             std::to_string(sizeof raw.sun_path - 1) + " bytes, not '" +
                                             std::string(path) + "'.");
  }
  raw.sun_family = AF_UNIX;
  std::memcpy(raw.sun_path, path.data(), path.size());
  bool const has_file = path.front() != '@';
  if (!has_file) raw.sun_path[0] = '\0';
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (has_file ? 1 : 0));
  return address;
}

}  // namespace penstock
