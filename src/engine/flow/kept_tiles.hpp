// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>

#include "engine/core/pool.hpp"
#include "engine/core/say.hpp"
#include "engine/lane/patience.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Waits for tiles, and says on the message hook when none comes home because the application keeps them all: its sink
/// moved the loans out of the completions. That is no error, since another thread may let them die; but a run that
/// stands still says why.
///
/// Threads: any.
class KeptTiles {
 public:
  /// `patience` is the time that this lasts before it is said.
  KeptTiles(Pool& pool, std::chrono::nanoseconds patience) : pool_(pool), patience_(patience) {}
  KeptTiles(KeptTiles const&) = delete;
  KeptTiles& operator=(KeptTiles const&) = delete;

  /// Borrows like Pool::borrow, for a thread that found no tile home. `all_kept(std::size_t waiting)` is true if the
  /// application keeps each tile that is out, where `waiting` threads wait here, this one among them.
  template <class AllKept>
  std::optional<Loan> wait(std::stop_token const& stop, std::size_t part, AllKept const& all_kept) {
    Waiting const waiting(waiting_);
    auto const between_looks = std::max<std::chrono::nanoseconds>(patience_ / 8, std::chrono::milliseconds(1));
    Patience patience(patience_, between_looks, Clock::now());
    for (;;) {
      auto loan = pool_.borrow(stop, part, between_looks);
      if (loan || stop.stop_requested()) return loan;
      if (!all_kept(waiting_.load(std::memory_order_relaxed))) {
        patience.renew(Clock::now());
      } else if (patience.runs_out(Clock::now())) {
        break;
      }
    }
    // It is said once, for all threads that wait and for as long as the pipeline lives.
    if (!said_.exchange(true, std::memory_order_relaxed)) {
      say("no tile has come home for %lld ms: the sink keeps the loans of all %zu tiles, so none can be filled. Let "
          "loans die, or have more tiles (Tuning::tiles).",
          static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(patience_).count()),
          pool_.size());
    }
    return pool_.borrow(stop, part);
  }

 private:
  struct Waiting {
    explicit Waiting(std::atomic<std::size_t>& all) : count(all) { count.fetch_add(1, std::memory_order_relaxed); }
    Waiting(Waiting const&) = delete;
    Waiting& operator=(Waiting const&) = delete;
    ~Waiting() { count.fetch_sub(1, std::memory_order_relaxed); }
    std::atomic<std::size_t>& count;
  };

  Pool& pool_;
  std::chrono::nanoseconds const patience_;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> said_{false};
};

}  // namespace penstock
