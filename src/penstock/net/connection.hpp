// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "penstock/core/descriptor.hpp"
#include "penstock/framing/stream_cutter.hpp"
#include "penstock/net/connection_group.hpp"
#include "penstock/net/connection_ledger.hpp"

namespace penstock {

/// One peer's stream on its way into tiles.
///
/// Threads: the one that has the group.
class Connection final : public Pollable {
 public:
  /// The socket is this object's. `ledger` outlives it.
  Connection(int socket, std::uint64_t number, ConnectionLedger& ledger, ConnectionSourceOptions const& options);

  int descriptor() const noexcept override { return socket_.number; }
  bool ready(Contents& contents) override;
  void break_off() noexcept override;

 private:
  void put(Contents& contents, std::size_t bytes, bool ended);
  void report_loss();
  bool over(ConnectionEnd how);

  Descriptor socket_;
  std::uint64_t const number_;
  ConnectionLedger& ledger_;
  std::optional<StreamCutter> cutter_;
  RecordLoss reported_;
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock
