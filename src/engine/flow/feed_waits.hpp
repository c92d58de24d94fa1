// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "engine/core/atomics.hpp"
#include "engine/core/pool.hpp"
#include "engine/flow/kept_tiles.hpp"

namespace penstock {

/// The place where feeding threads wait for tiles. It finds threads that wait for each other: each tile of the pool is
/// lent to one of them, and none is submitted.
///
/// A tile counts for the thread that borrowed it until it is submitted or goes home. A loan may have moved to a thread
/// that is going to submit it, which nothing shows. So such a state is an error only after it has lasted for
/// `patience`, and never once a thread has submitted what another had borrowed.
///
/// Threads: any. Tiles that are lent and submitted without a wait take no lock here.
class FeedWaits {
 public:
  FeedWaits(Pool& pool, std::chrono::nanoseconds patience) : pool_(pool), patience_(patience), kept_(pool, patience) {}
  FeedWaits(FeedWaits const&) = delete;
  FeedWaits& operator=(FeedWaits const&) = delete;

  /// Says whether a tile is under way, that is submitted and not yet through with the sink.
  using UnderWay = std::function<bool()>;

  /// Calls Pool::borrow. If none is `under_way` and none is lent to a feeding thread, the sink keeps them all: that is
  /// said, as KeptTiles has it.
  ///
  /// Throws: Error, if this thread was the last to wait and all wait for each other.
  std::optional<Loan> borrow(std::stop_token const& stop, std::size_t part, UnderWay const& under_way = {});
  /// Borrows without a wait, by Pool::try_borrow.
  std::optional<Loan> try_borrow(std::size_t part) noexcept { return noted(pool_.try_borrow(part)); }
  /// The time that all threads together waited since the last call. Waits that are not over are not counted.
  std::chrono::nanoseconds take_waited() noexcept { return std::chrono::nanoseconds(waited_.exchange(0)); }
  /// The tile is no longer lent to any thread.
  void submitted(Loan const& loan) noexcept {
    std::uint32_t const borrower = loan->mark();
    if (borrower == 0) return;
    loan->set_mark(0);
    if (borrower != this_thread() && !loans_move_.load(std::memory_order_relaxed)) {
      loans_move_.store(true, std::memory_order_relaxed);
    }
  }

 private:
  class Waiting;

  /// A number that is not 0.
  static std::uint32_t this_thread() noexcept {
    return static_cast<std::uint32_t>(StandardAtomics::number_of_thread() + 1);
  }
  static std::optional<Loan> noted(std::optional<Loan> loan) noexcept {
    if (loan) (*loan)->set_mark(this_thread());
    return loan;
  }
  std::optional<Loan> wait(std::stop_token const& stop, std::size_t part, UnderWay const& under_way);
  std::optional<Loan> borrow_or_say(std::stop_token const& stop, std::size_t part, UnderWay const& under_way);
  std::optional<Loan> borrow_while_all_wait(std::stop_token const& stop, std::size_t part);
  bool all_wait();
  bool none_is_lent() const;

  Pool& pool_;
  std::chrono::nanoseconds const patience_;
  KeptTiles kept_;
  std::atomic<bool> loans_move_{false};
  std::atomic<std::int64_t> waited_{0};  ///< Nanoseconds.
  std::mutex mutex_;
  std::vector<std::uint32_t> waiting_;
  std::size_t look_first_ = 0;  ///< The tile that the last look found not lent to one of them.
};

}  // namespace penstock
