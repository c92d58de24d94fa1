// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "engine/machine/ending.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {

/// The record of a source's connections: it numbers them, counts them, notifies the observer, and ends the input with
/// the last one.
///
/// Threads: any.
class ConnectionLedger {
 public:
  /// `ending` must outlive this. Incomplete records may keep `most_kept` bytes.
  ConnectionLedger(Ending& ending, ConnectionSourceOptions const& options, std::size_t most_kept);

  enum class Admission { yes, too_many, no_more };
  /// Tells whether one more connection may come.
  Admission admission() const;
  /// Registers a new connection and returns its number.
  std::uint64_t open(std::string const& peer);
  void refuse();
  void close(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes);
  void add_bytes(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void add_loss(RecordLoss const& loss);
  /// Notes that a connection is being closed on this side; `gave_up` follows once it is gone.
  void give_up() noexcept { to_close_.fetch_add(1, std::memory_order_relaxed); }
  void gave_up() noexcept { to_close_.fetch_sub(1, std::memory_order_relaxed); }
  bool has_some_to_close() const noexcept { return to_close_.load(std::memory_order_relaxed) != 0; }
  /// Updates the memory that a connection keeps for an incomplete record.
  void change_kept(std::size_t before, std::size_t now) noexcept {
    kept_.fetch_add(now - before, std::memory_order_relaxed);
  }
  /// True if connections keep more memory than allowed, and none is about to be closed.
  bool crowded() const noexcept { return kept_.load(std::memory_order_relaxed) > most_kept_ && !has_some_to_close(); }
  bool wants_peers() const noexcept { return observer_ != nullptr; }
  ConnectionCounts counts() const;

 private:
  Ending& ending_;
  std::optional<std::uint64_t> const connections_;
  std::size_t const most_;
  std::size_t const most_kept_;
  ConnectionObserver* const observer_;
  std::mutex telling_;  ///< Keeps the observer's notifications in order. It may ask for `counts`. Locked before the
                        /// other mutex.
  mutable std::mutex mutex_;
  ConnectionCounts counts_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::size_t> kept_{0};
  std::atomic<std::size_t> to_close_{0};
};

}  // namespace penstock
