// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "ingest/net/connection.hpp"
#include "ingest/net/connection_group.hpp"
#include "ingest/net/connection_ledger.hpp"
#include "ingest/net/late_peers.hpp"
#include "ingest/net/listener.hpp"
#include "ingest/net/receivers.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

/// Makes the system probe a peer that is silent, since its machine may be gone: after a minute, six times, once every
/// ten seconds.
void ask_silent_peers(int socket) noexcept {
  auto const set = [&](int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 6);
}

void expect_suitable(ConnectionSourceOptions const& options, std::size_t tile_bytes) {
  if (options.framing == nullptr) return;
  if (options.framing->head_bytes() != 0) {
    throw Error(ErrorKind::bad_argument,
                "This framing is told by the beginning of an input, and a tile has records of many connections: give "
                "the descriptor of a connection to a FileSource.");
  }
  std::size_t const least = std::max(options.framing->equal_bytes(), options.framing->delimiter_bytes());
  if (least <= tile_bytes) return;
  throw Error(ErrorKind::bad_argument, "A tile of " + size_text(tile_bytes) + " has no room for a record of " +
                                           std::to_string(least) + " bytes: make tiles larger.");
}

std::string connections_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " connection" : " connections");
}

}  // namespace

/// The implementation of a ConnectionSource.
class ConnectionSource::Parts {
 public:
  Parts(std::vector<std::string> const& addresses, Pool const& pool, ConnectionSourceOptions options)
      : options_(std::move(options)),
        ending_(options_.stop),
        ledger_(ending_, options_, std::max(options_.most_unfinished, pool.shape().input_bytes)),
        receivers_(pool, ending_, {.linger = options_.linger, .idle = options_.idle}) {
    expect_suitable(options_, pool.shape().input_bytes);
    if (addresses.empty()) throw Error(ErrorKind::bad_argument, "There is no address to listen at: name one.");
    if (options_.readers == 0) throw Error(ErrorKind::bad_argument, "Connections need a reader: give them one.");
    for (unsigned k = 0; k < options_.readers; ++k) {
      ConnectionGroup& group = *groups_.emplace_back(std::make_unique<ConnectionGroup>(ending_));
      group.bound_by([this] { return ledger_.crowded(); });
      group.adopt(std::make_unique<LatePeers>(
          group, LatePeers::Limits{.silence = options_.longest_silence, .record = options_.longest_record}));
    }
    for (std::string const& address : addresses) listen(address);
    for (auto const& group : groups_) receivers_.add(*group);
  }

  std::vector<std::string> const& addresses() const noexcept { return addresses_; }
  ConnectionLedger const& ledger() const noexcept { return ledger_; }
  Receivers& receivers() noexcept { return receivers_; }
  bool stopped() const noexcept { return options_.stop.stop_requested(); }

  OwnProcess const process;

 private:
  void listen(std::string const& address) {
    ConnectionGroup& group = *groups_.front();
    for (auto& socket : ListeningSocket::open_all(address)) {
      addresses_.push_back(socket->address());
      auto const accepted = [this](int peer, std::string const& name) { add(peer, name); };
      group.adopt(
          std::make_unique<Listener>(std::move(socket), ledger_, group, accepted, [this] { return make_room(); }));
    }
  }
  /// Gives up the peer with the longest silence, for another one that waits to be accepted.
  bool make_room() {
    auto const before = Pollable::Clock::now() - options_.spared;
    ConnectionGroup* chosen = nullptr;
    std::optional<Pollable::Clock::time_point> since;
    for (auto const& group : groups_) {
      auto const here = group->longest_silence(before);
      if (!here || (since && *since <= *here)) continue;
      since = here;
      chosen = group.get();
    }
    return chosen != nullptr && chosen->give_up_silent(before);
  }
  void add(int socket, std::string const& peer) {
    Descriptor owned(socket);
    ask_silent_peers(socket);
    std::uint64_t const number = ledger_.open(peer);
    try {
      auto connection = std::make_unique<Connection>(socket, number, ledger_, options_);
      owned.number = -1;
      groups_[number % groups_.size()]->adopt(std::move(connection));
    } catch (...) {  // The system has no memory for one more.
      ledger_.close(number, ConnectionEnd::broken, 0);
    }
  }

  ConnectionSourceOptions const options_;
  Ending ending_;
  ConnectionLedger ledger_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<ConnectionGroup>> groups_;
  Receivers receivers_;
};

ConnectionSource::ConnectionSource(std::vector<std::string> const& addresses, Pool const& pool,
                                   ConnectionSourceOptions options)
    : parts_(std::make_unique<Parts>(addresses, pool, std::move(options))) {}

ConnectionSource::~ConnectionSource() {
  left_to_parent(parts_);
}

std::vector<std::string> const& ConnectionSource::addresses() const noexcept {
  return parts_->addresses();
}

bool ConnectionSource::next(Tile& tile) {
  return parts_->receivers().next(tile);
}

std::size_t ConnectionSource::fill(Tile& tile) {
  return parts_->receivers().fill(tile);
}

std::vector<Stretch> const& ConnectionSource::stretches_of(Tile const& tile) const {
  return parts_->receivers().stretches_of(tile);
}

ConnectionCounts ConnectionSource::counts() const {
  return parts_->ledger().counts();
}

std::vector<std::string> ConnectionSource::remarks() const {
  ConnectionCounts const now = counts();
  if (now.broken == 0) return {};
  return {connections_text(now.broken) + " broke off by an error of the network."};
}

std::vector<LeftOut> ConnectionSource::left_out() const {
  ConnectionCounts const now = counts();
  std::vector<LeftOut> all = left_out_of(now.loss, parts_->stopped());
  std::array const connections{
      LeftOut{.unit = "connection",
              .reason = "closed from here, since what came is no record",
              .count = now.damaged,
              .remedy = "look for damage, or for a sender that frames its records in another way"},
      LeftOut{
          .unit = "connection",
          .reason = "closed from here, since it was silent or a record of it took too long",
          .count = now.silent,
          .remedy = "raise longest_silence, longest_record or most_unfinished, or the limit on open files (ulimit -n)",
          .lost = false},
      LeftOut{.unit = "connection",
              .reason = "turned away, since there were too many",
              .count = now.refused,
              .remedy = "raise most_connections, or the limit on open files (ulimit -n)"}};
  add_left_out(all, connections);
  return all;
}

}  // namespace penstock
