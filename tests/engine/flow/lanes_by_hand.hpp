// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/event_count.hpp"
#include "engine/core/mailbox.hpp"
#include "engine/flow/tile_route.hpp"

namespace penstock::test {

/// Stands in for lanes: keeps each tile until the test completes it.
struct LanesByHand final : TileTaker {
  bool submit(Loan& loan) noexcept override {
    if (!open) return false;
    kept.push_back(std::move(loan));
    return true;
  }
  bool submit(Loan& loan, std::uint64_t key) noexcept override {
    keys.push_back(key);
    return submit(loan);
  }
  bool lost() const noexcept override { return all_lost; }
  std::vector<Loan> kept;
  std::vector<std::uint64_t> keys;  ///< Keys of tiles that had one, in the order in which they came.
  bool open = true;
  bool all_lost = false;
};

/// Stands in for lanes: a thread of its own completes each tile. It ends before the route dies, as a run's lanes
/// do: when the last tile is home, its completion has not returned yet.
class OneThread final : public TileTaker {
 public:
  OneThread() : thread_([this] { run(); }) {}
  OneThread(OneThread const&) = delete;
  OneThread& operator=(OneThread const&) = delete;
  ~OneThread() { end(); }
  /// Ends the thread once every tile is complete.
  void end() {
    if (!thread_.joinable()) return;
    over_ = true;
    bell_.notify();
    thread_.join();
  }
  bool submit(Loan& loan) noexcept override {
    inbox_.push(loan.release());
    bell_.notify();
    return true;
  }
  bool submit(Loan& loan, std::uint64_t) noexcept override { return submit(loan); }
  bool lost() const noexcept override { return false; }
  void complete_into(TileRoute* route) { route_ = route; }

 private:
  void run() {
    while (!over_) {
      bell_.await([&] { return over_ || !inbox_.empty(); }, std::chrono::nanoseconds(0), std::chrono::hours(1));
      while (auto const tile = inbox_.pop())
        route_.load()->way_back(0).take(Completion::done(Loan::resume(*tile)), false);
    }
  }

  Mailbox<Tile*> inbox_{64};
  EventCount bell_;
  std::atomic<bool> over_{false};
  std::atomic<TileRoute*> route_{nullptr};
  std::thread thread_;
};

}  // namespace penstock::test
