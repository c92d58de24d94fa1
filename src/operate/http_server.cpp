// SPDX-License-Identifier: Apache-2.0
#include "operate/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <list>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/own_process.hpp"
#include "engine/machine/poll_set.hpp"
#include "operate/http_peer.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using PeerClock = HttpPeer::Clock;

/// Pause in accepting, if the system has no memory for a peer.
constexpr std::chrono::milliseconds pause{100};

int listening(NetAddress const& address) {
  auto const expect = [](bool good) {
    if (!good) throw std::system_error(errno, std::generic_category());
  };
  Descriptor made(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  expect(made.number >= 0);
  int const on = 1;
  setsockopt(made.number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  expect(bind(made.number, address.raw(), address.bytes) == 0);
  expect(listen(made.number, SOMAXCONN) == 0);
  return std::exchange(made.number, -1);
}

}  // namespace

class HttpServer::Parts {
 public:
  Parts(NetAddress const& address, HttpAnswerer answerer)
      : answerer_(std::move(answerer)),
        socket_(listening(address)),
        address_(address_of(socket_.number)),
        bell_(expect_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (std::system_error const& refused) {
      throw Error(ErrorKind::system,
                  std::string("No thread can be started to serve metrics: ") + refused.what() + ". Raise `ulimit -u`.");
    }
  }
  ~Parts() {
    ending_.store(true, std::memory_order_release);
    std::uint64_t const one = 1;
    static_cast<void>(!write(bell_.number, &one, sizeof one));
    thread_.join();
  }
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;

  NetAddress const& address() const noexcept { return address_; }

  OwnProcess const process;

 private:
  void serve() noexcept {
    pthread_setname_np(pthread_self(), "ps-metrics");
    while (!ending_.load(std::memory_order_acquire)) {
      try {
        one_turn();
      } catch (std::bad_alloc const&) {
        drop_oldest();  // Frees the memory of the oldest peer.
      }
    }
  }

  void one_turn() {
    PeerClock::time_point const began = PeerClock::now();
    bool const pauses = began < paused_until_;
    waited_.assign({{bell_.number, POLLIN, 0}, {socket_.number, static_cast<short>(pauses ? 0 : POLLIN), 0}});
    PeerClock::time_point next = pauses ? paused_until_ : began + std::chrono::hours(1);
    for (HttpPeer const& peer : peers_) {
      waited_.push_back({peer.descriptor(), peer.events(), 0});
      next = std::min(next, peer.until());
    }
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(next - began);
    poll(waited_.data(), waited_.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    PeerClock::time_point const now = PeerClock::now();
    auto ready = waited_.begin() + 2;
    for (auto peer = peers_.begin(); peer != peers_.end(); ++ready) {
      bool const has_turn = ready->revents != 0 || now >= peer->until();
      peer = has_turn && !peer->go_on(now, answerer_) ? peers_.erase(peer) : std::next(peer);
    }
    if (waited_[1].revents != 0) accept_all(now);
  }

  void accept_all(PeerClock::time_point now) {
    // Accepts a limited number at once, before the present peers have their turn.
    for (std::size_t k = 0; k < most_peers / 2; ++k) {
      int const socket = accept4(socket_.number, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        if (peers_.size() == most_peers) drop_oldest();
        Descriptor owned(socket);
        peers_.emplace_back(socket, now);
        owned.number = -1;
      } else if (errno == EAGAIN) {
        return;
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        if (peers_.empty()) paused_until_ = now + pause;
        drop_oldest();
        return;
      }
      // Other errors mean that this peer is gone.
    }
  }
  void drop_oldest() noexcept {
    if (!peers_.empty()) peers_.pop_front();
  }

  HttpAnswerer const answerer_;
  Descriptor const socket_;
  NetAddress const address_;
  Descriptor const bell_;
  std::atomic<bool> ending_{false};
  std::list<HttpPeer> peers_;  ///< Peers in the order in which they came.
  std::vector<pollfd> waited_;
  PeerClock::time_point paused_until_;
  std::thread thread_;
};

HttpServer::HttpServer(NetAddress const& address, HttpAnswerer answerer)
    : parts_(std::make_unique<Parts>(address, std::move(answerer))) {}
HttpServer::~HttpServer() {
  left_to_parent(parts_);
}
NetAddress const& HttpServer::address() const noexcept {
  return parts_->address();
}

}  // namespace penstock
