// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/core/descriptor.hpp"
#include "ingest/framing/stream_cutter.hpp"
#include "ingest/net/connection_group.hpp"
#include "ingest/net/connection_ledger.hpp"

namespace penstock {

/// One peer's stream on its way into tiles.
///
/// Threads: the one that has the group.
class Connection final : public Pollable {
 public:
  /// The object owns the socket. `ledger` must outlive it.
  Connection(int socket, std::uint64_t number, ConnectionLedger& ledger, ConnectionSourceOptions const& options);
  Connection(Connection const&) = delete;
  Connection& operator=(Connection const&) = delete;
  ~Connection() override;

  int descriptor() const noexcept override { return socket_.number; }
  bool ready(Contents& contents) override;
  void break_off() noexcept override;
  std::optional<Clock::time_point> silent_since() const noexcept override;
  std::optional<Clock::time_point> record_since() const noexcept override;
  void give_up() noexcept override;

 private:
  static constexpr Clock::time_point no_record = Clock::time_point::max();
  void put(Contents& contents, std::size_t bytes, bool ended);
  void note_record(bool others_ended);
  void report_loss();
  bool over(ConnectionEnd how);

  Descriptor socket_;
  std::uint64_t const number_;
  ConnectionLedger& ledger_;
  std::optional<StreamCutter> cutter_;
  RecordLoss reported_;
  std::uint64_t bytes_ = 0;
  std::size_t kept_ = 0;  ///< Size of the memory that the ledger counts.
  std::atomic<Clock::time_point> last_came_{Clock::now()};
  std::atomic<Clock::time_point> record_began_{no_record};
  std::atomic<bool> given_up_{false};
};

}  // namespace penstock
