// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/listener.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Maximum number of peers that are accepted before the connections have their turn again.
constexpr int most_peers_at_once = 64;

/// Waits: for memory to become available, and for a connection that is given up to be closed.
constexpr long for_memory_ns = 100'000'000, for_room_ns = 1'000'000;

int open_spare() noexcept {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

/// Suspends a listener for a while.
class Listener::Pause final : public Pollable {
 public:
  Pause(ConnectionGroup& group, std::shared_ptr<Listener*> listener)
      : group_(group),
        listener_(std::move(listener)),
        timer_(expect_descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))) {}
  int descriptor() const noexcept override { return timer_.number; }
  void begin(long nanoseconds) {
    group_.set().change((*listener_)->descriptor(), 0, *listener_);
    itimerspec const time{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = nanoseconds}};
    timerfd_settime(timer_.number, 0, &time, nullptr);
  }
  bool ready(Contents&) override {
    std::uint64_t times = 0;
    bool const over = read(timer_.number, &times, sizeof times) > 0;
    if (over && *listener_ != nullptr) group_.set().change((*listener_)->descriptor(), EPOLLIN, *listener_);
    return true;
  }

 private:
  ConnectionGroup& group_;
  std::shared_ptr<Listener*> const listener_;
  Descriptor const timer_;
};

Listener::Listener(std::unique_ptr<ListeningSocket> socket, ConnectionLedger& ledger, ConnectionGroup& group,
                   Accepted accepted, MakeRoom make_room)
    : socket_(std::move(socket)),
      ledger_(ledger),
      accepted_(std::move(accepted)),
      make_room_(std::move(make_room)),
      spare_(open_spare()) {
  auto pause = std::make_unique<Pause>(group, itself_);
  pause_ = pause.get();
  group.adopt(std::move(pause));
}

Listener::~Listener() {
  *itself_ = nullptr;
}

bool Listener::ready(Contents&) {
  if (spare_.number < 0) spare_.number = open_spare();
  for (int k = 0; k < most_peers_at_once; ++k) {
    auto const admission = ledger_.admission();
    if (admission == ConnectionLedger::Admission::no_more) return false;
    if (admission == ConnectionLedger::Admission::too_many && peer_waits() && room_is_made()) return true;
    NetAddress peer;
    peer.bytes = sizeof peer.storage;
    int const socket = accept4(descriptor(), peer.raw(), &peer.bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0 && admission == ConnectionLedger::Admission::yes) {
      accepted_(socket, ledger_.wants_peers() ? socket_->scheme() + text_of(peer) : "");
    } else if (socket >= 0) {
      close(socket);
      ledger_.refuse();
    } else if (errno == EAGAIN || ((errno == EMFILE || errno == ENFILE) && room_is_made())) {
      return true;
    } else if ((errno == EMFILE || errno == ENFILE) && spare_.number >= 0) {
      if (!turn_away()) return true;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      pause_->begin(for_memory_ns);
      return true;
    }
    // Other errors mean that this peer, or its network, is gone.
  }
  return true;
}

bool Listener::peer_waits() const noexcept {
  pollfd waited{descriptor(), POLLIN, 0};
  return poll(&waited, 1, 0) > 0;
}

/// Tries again soon: peers wait until the connections that are given up have been closed.
bool Listener::room_is_made() {
  int const problem = errno;
  bool const some = ledger_.has_some_to_close() || make_room_();
  if (some) pause_->begin(for_room_ns);
  errno = problem;
  return some;
}

/// Refuses a peer with the spare descriptor; false if no peer waits. The system may refuse a descriptor even then.
bool Listener::turn_away() {
  spare_.shut();
  int const socket = accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  if (socket >= 0) {
    close(socket);
    ledger_.refuse();
  }
  spare_.number = open_spare();
  return socket >= 0;
}

}  // namespace penstock
