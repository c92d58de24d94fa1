// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>

#include "engine/core/pool.hpp"
#include "engine/flow/crew.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Opens and closes the reserve of a pool by how many of a crew are at work, and leaves it open when it dies.
///
/// Once no producer got through a tile for the crew's patience, as with a sink that keeps tiles, the reserve is open
/// for a while, however few are at work.
///
/// Threads: any.
class ReserveKeeper {
 public:
  static constexpr std::chrono::milliseconds open_after_want{250};

  explicit ReserveKeeper(Pool& pool) noexcept : pool_(pool) {}
  ReserveKeeper(ReserveKeeper const&) = delete;
  ReserveKeeper& operator=(ReserveKeeper const&) = delete;
  ~ReserveKeeper() { pool_.open_reserve(true); }

  /// The last of the threads that call it at once sees how many are at work.
  void fit(Crew const& crew, Clock::time_point now) noexcept {
    if (pool_.reserve() == 0) return;
    std::scoped_lock const lock(mutex_);
    bool const wanted = crew.at_work() > producers_without_reserve || now - crew.last_want() < open_after_want;
    if (wanted != pool_.reserve_is_open()) pool_.open_reserve(wanted);
  }

 private:
  Pool& pool_;
  std::mutex mutex_;
};

}  // namespace penstock
