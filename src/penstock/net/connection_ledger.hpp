// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "penstock/net/ending.hpp"
#include "penstock/sockets.hpp"

namespace penstock {

/// What became of the connections of a source: it numbers them, counts them, tells the observer, and ends the input
/// with the last one.
///
/// Threads: any.
class ConnectionLedger {
 public:
  /// `ending` outlives this.
  ConnectionLedger(Ending& ending, ConnectionSourceOptions const& options);

  enum class Admission { yes, too_many, no_more };
  /// Whether one more may come.
  Admission admission() const;
  /// One came; its number.
  std::uint64_t open(std::string const& peer);
  void refuse();
  void close(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes);
  void add_bytes(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void add_loss(RecordLoss const& loss);
  bool wants_peers() const noexcept { return observer_ != nullptr; }
  ConnectionCounts counts() const;

 private:
  Ending& ending_;
  std::optional<std::uint64_t> const connections_;
  std::size_t const most_;
  ConnectionObserver* const observer_;
  std::mutex telling_;  ///< So that the observer is told in order. It may ask for `counts`. Taken before the other.
  mutable std::mutex mutex_;
  ConnectionCounts counts_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace penstock
