// SPDX-License-Identifier: Apache-2.0
#include "lease/network_between.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace penstock::support {
namespace {

/// Time after which the thread looks whether it is parted, or is to end.
constexpr int between_looks_ms = 2;

}  // namespace

NetworkBetween::NetworkBetween(std::string server)
    : server_(std::move(server)), listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof here;
  if (bind(listening_.number, reinterpret_cast<sockaddr const*>(&here), sizeof here) != 0 ||
      listen(listening_.number, 16) != 0 ||
      getsockname(listening_.number, reinterpret_cast<sockaddr*>(&here), &bytes) != 0)
    throw std::runtime_error("no socket for a network");
  port_ = ntohs(here.sin_port);
  thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
}

NetworkBetween::~NetworkBetween() = default;

void NetworkBetween::await_connections(unsigned more) const {
  for (unsigned const all = connections_ + more; connections_ < all;) poll(nullptr, 0, between_looks_ms);
}

void NetworkBetween::part(Way way) {
  std::lock_guard const lock(mutex_);
  parted_ |= static_cast<unsigned>(way);
}

void NetworkBetween::join() {
  std::lock_guard const lock(mutex_);
  parted_ = 0;
}

void NetworkBetween::cut() {
  std::lock_guard const lock(mutex_);
  pairs_.clear();
  parted_ = 0;
}

void NetworkBetween::await_waiting(Way way) const {
  for (;; poll(nullptr, 0, between_looks_ms)) {
    std::lock_guard const lock(mutex_);
    for (Pair const& pair : pairs_) {
      char byte = 0;
      int const from = way == Way::to_server ? pair.client.number : pair.server.number;
      if (recv(from, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) return;
    }
  }
}

void NetworkBetween::work(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    pollfd one{listening_.number, POLLIN, 0};
    bool moved = poll(&one, 1, 0) == 1;
    std::unique_lock lock(mutex_);
    if (moved) accept_one();
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
      pollfd ends[] = {{pair->client.number, POLLIN, 0}, {pair->server.number, POLLIN, 0}};
      bool is_open = true;
      if (poll(ends, 2, 0) > 0) {
        for (auto const way : {Way::to_server, Way::to_client}) {
          int const from = way == Way::to_server ? 0 : 1;
          if (is_parted(way) || ends[from].revents == 0) continue;
          moved = true;
          is_open = is_open && pass_on(ends[from].fd, ends[1 - from].fd);
        }
      }
      pair = is_open ? std::next(pair) : pairs_.erase(pair);
    }
    lock.unlock();
    if (!moved) poll(nullptr, 0, between_looks_ms);
  }
}

void NetworkBetween::accept_one() {
  int const accepted = accept4(listening_.number, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) return;
  ++connections_;
  Pair& made = pairs_.emplace_back(accepted);
  made.server.number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  server_.copy(there.sun_path, sizeof there.sun_path - 1);
  if (connect(made.server.number, reinterpret_cast<sockaddr const*>(&there), sizeof there) != 0) pairs_.pop_back();
}

bool NetworkBetween::pass_on(int from, int to) {
  std::array<char, 1U << 16U> bytes{};
  ssize_t const got = recv(from, bytes.data(), bytes.size(), 0);
  for (ssize_t sent = 0; sent < got;) {
    ssize_t const some = send(to, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (some <= 0) return false;
    sent += some;
  }
  return got > 0;
}

}  // namespace penstock::support
