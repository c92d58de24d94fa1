// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/core/descriptor.hpp"
#include "penstock/net/connection_group.hpp"
#include "penstock/net/connection_ledger.hpp"
#include "penstock/net/listening_socket.hpp"

namespace penstock {

/// Accepts peers, or turns them away.
///
/// Where the process has no descriptor left, a peer is turned away by one that was kept for that; where the system
/// has no memory left, peers are left to wait for a tenth of a second. So no thread goes round for peers that cannot be
/// accepted.
///
/// Threads: the one that has the group.
class Listener final : public Pollable {
 public:
  /// Gets a socket, which is then its to close, and its peer's address, if the ledger wants that; throws nothing.
  using Accepted = std::function<void(int socket, std::string const& peer)>;

  /// `ledger` and `group`, to which this is given, outlive it.
  ///
  /// Throws: Error of kind system, if the process has no descriptor left.
  Listener(std::unique_ptr<ListeningSocket> socket, ConnectionLedger& ledger, ConnectionGroup& group,
           Accepted accepted);
  Listener(Listener const&) = delete;
  Listener& operator=(Listener const&) = delete;
  ~Listener() override;

  int descriptor() const noexcept override { return socket_->descriptor(); }
  bool ready(Contents& contents) override;

 private:
  class Pause;
  bool turn_away();

  std::unique_ptr<ListeningSocket> const socket_;
  ConnectionLedger& ledger_;
  Accepted const accepted_;
  Descriptor spare_;
  std::shared_ptr<Listener*> const itself_ = std::make_shared<Listener*>(this);  ///< Null once it is gone.
  Pause* pause_ = nullptr;                                                       ///< The group's.
};

}  // namespace penstock
