// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/core/event_count.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Decides which of a run's producers are at work: no more than there is work for.
///
/// Producers that mostly wait for tiles, or hardly fill any, cost more than they bring: they meet at the source's lock,
/// and a thread that brings a tile home wakes them one by one. So the last one rests if the others are enough, and
/// comes back once those at work hardly wait. Where a tile takes long to fill, none rests. At first all are at work. If
/// none of them gets through a tile for a while, say because the source keeps them all, the first that rests comes back
/// by itself, and after it the next. Some are always at work: one for each part of the pool, since the producers take
/// the parts in turn.
///
/// Threads: the workers, each under its own number.
class Crew {
 public:
  using Clock = penstock::Clock;

  /// Times of one of them since its last tile was sent on.
  struct Turn {
    std::chrono::nanoseconds waited{0};  ///< Time of waiting for a tile.
    std::chrono::nanoseconds filled{0};  ///< Time in the source.
  };

  /// Time that all may go without a tile until a producer that rests comes back.
  static constexpr std::chrono::milliseconds usual_patience{5};

  /// `least` of them are always at work. `stop` wakes all that rest, for good. `look` is called when one comes back to
  /// work, and now and then by the first producer while it is at work, with the time; it does not throw.
  Crew(std::size_t workers, std::size_t least, std::stop_token stop, std::chrono::nanoseconds patience = usual_patience,
       std::function<void(Clock::time_point)> look = {});

  /// Notes a turn that ends `now`. It may change which producers are at work.
  ///
  /// Blocks: as `look`.
  void note(std::size_t worker, Clock::time_point now, Turn turn) noexcept;
  /// True if the worker is to rest.
  bool rests(std::size_t worker) const noexcept { return worker >= at_work_.load(std::memory_order_relaxed); }
  /// Waits until it is at work again, and returns for how long.
  ///
  /// Blocks: until then.
  std::chrono::nanoseconds rest(std::size_t worker);
  std::size_t at_work() const noexcept { return at_work_.load(std::memory_order_relaxed); }
  /// Time at which a producer last came back because none got through a tile; long ago, if that never was.
  Clock::time_point last_want() const noexcept { return last_want_.load(std::memory_order_relaxed); }
  /// Time that all of them rested; a rest that is not over is not counted.
  std::chrono::nanoseconds rested() const noexcept { return std::chrono::nanoseconds(rested_.load()); }

 private:
  /// The figures of one worker; on a cache line of its own, since they are written for each tile.
  struct alignas(64) Worker {
    Clock::time_point since{};  ///< Beginning of what is noted here.
    Turn sum{};
    unsigned turns = 0;
    std::atomic<std::uint64_t> tiles{0};  ///< Tiles in all.
    EventCount bell;

    /// Begins new sums at `time`; where that is empty, the next turn says when they began.
    void begin(Clock::time_point time) noexcept {
      since = time;
      sum = {};
      turns = 0;
    }
  };

  void judge(std::size_t worker, double waiting, double filling, bool slow) noexcept;
  bool send_home(std::size_t at_work) noexcept;
  bool call_in(std::size_t at_work) noexcept;
  std::uint64_t tiles() const noexcept;

  std::vector<Worker> workers_;
  std::size_t const least_;
  std::stop_token const stop_;
  std::chrono::nanoseconds const patience_;
  std::function<void(Clock::time_point)> const look_;
  std::atomic<std::size_t> at_work_;
  std::atomic<Clock::time_point> last_want_{Clock::time_point(-std::chrono::hours(24 * 365))};
  std::atomic<std::int64_t> rested_{0};
  std::stop_callback<std::function<void()>> wake_all_;
};

}  // namespace penstock
