// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "engine/core/descriptor.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {

bool tell_service_manager(std::string const& state) noexcept {
  char const* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr) return false;
  std::string_view const name = path;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  // The name is a path, or "@" and an abstract name.
  if (name.size() < 2 || name.size() >= sizeof to.sun_path || (name[0] != '/' && name[0] != '@')) return false;
  std::memcpy(to.sun_path, name.data(), name.size());
  if (name[0] == '@') to.sun_path[0] = '\0';
  auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  Descriptor const socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (socket.number < 0) return false;
  // The queue may be full. A status line can be dropped, but not the news that the program is ready or ends.
  timeval const patience =
      state.starts_with("STATUS=") ? timeval{.tv_sec = 0, .tv_usec = 1} : timeval{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  auto const sent =
      sendto(socket.number, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr const*>(&to), bytes);
  return sent == static_cast<ssize_t>(state.size());
}

}  // namespace penstock
