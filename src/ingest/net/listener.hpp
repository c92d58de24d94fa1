// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/core/descriptor.hpp"
#include "ingest/net/connection_group.hpp"
#include "ingest/net/connection_ledger.hpp"
#include "ingest/net/listening_socket.hpp"

namespace penstock {

/// Accepts peers, or refuses them.
///
/// If there are too many peers or the process has no descriptor left, peers that have been silent for long make room.
/// If there are none, the new peer is refused with a descriptor reserved for that. If the system has no memory left,
/// peers wait for a tenth of a second. No thread thus loops for peers that cannot be accepted.
///
/// Threads: the one that has the group.
class Listener final : public Pollable {
 public:
  /// Gets a socket, which it must close, and its peer's address, if the ledger wants that; throws nothing.
  using Accepted = std::function<void(int socket, std::string const& peer)>;
  /// Gives up peers that have been silent for long; false if there are none.
  using MakeRoom = std::function<bool()>;

  /// `ledger` and `group`, to which this object is added, must outlive it.
  ///
  /// Throws: Error of kind system, if the process has no descriptor left.
  Listener(std::unique_ptr<ListeningSocket> socket, ConnectionLedger& ledger, ConnectionGroup& group, Accepted accepted,
           MakeRoom make_room);
  Listener(Listener const&) = delete;
  Listener& operator=(Listener const&) = delete;
  ~Listener() override;

  int descriptor() const noexcept override { return socket_->descriptor(); }
  bool ready(Contents& contents) override;

 private:
  class Pause;
  bool turn_away();
  bool room_is_made();
  bool peer_waits() const noexcept;

  std::unique_ptr<ListeningSocket> const socket_;
  ConnectionLedger& ledger_;
  Accepted const accepted_;
  MakeRoom const make_room_;
  Descriptor spare_;
  std::shared_ptr<Listener*> const itself_ = std::make_shared<Listener*>(this);  ///< Null once the listener is
                                                                                 /// destroyed.
  Pause* pause_ = nullptr;                                                       ///< Owned by the group.
};

}  // namespace penstock
