// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/lane/lane_options.hpp"
#include "engine/lane/patience.hpp"
#include "penstock/clock.hpp"

namespace penstock {

/// Time that a device takes for a tile while it has more than it can do: time over tiles, where older values count for
/// less.
class ServiceRate {
 public:
  /// The device finished `tiles` tiles in `time`, in which it always had one. One call takes all that one look
  /// found, because each call makes older values count for an eighth less.
  void add(std::chrono::nanoseconds time, std::uint64_t tiles) noexcept {
    time_ = time_ * kept + static_cast<double>(time.count());
    tiles_ = tiles_ * kept + static_cast<double>(tiles);
  }
  /// Time for `tiles` tiles; 0 before the first is through.
  std::chrono::nanoseconds of(std::uint64_t tiles) const noexcept {
    if (tiles_ == 0) return {};
    return std::chrono::nanoseconds(static_cast<std::int64_t>(time_ / tiles_ * static_cast<double>(tiles)));
  }

 private:
  static constexpr double kept = 0.875;
  double time_ = 0;
  double tiles_ = 0;
};

/// Decides when a lane looks at its device, how long it sleeps beside it, when its watchdog asks, and when it gives up.
/// It knows the time and the numbers of tiles that it is told, asks no clock and touches no device.
///
/// Invariant: a lane with tiles in flight never sleeps longer than its watchdog, or an idle budget, says. The budget
///            leaves the device more work than half of the slots hold, by its rate.
/// Units:     tiles are counted as by Flight; time is the lane's clock, which never goes back.
/// Threads:   the lane's.
class Lookout {
 public:
  using Clock = penstock::Clock;
  /// `called`: the signal brings tickets, which wake the lane.
  Lookout(LaneOptions const& options, bool called, Clock::time_point now) noexcept;

  /// The device, which had no tile, got one just now; `retired` are through.
  void began(Clock::time_point now, std::uint64_t retired) noexcept;
  /// The device is known to have finished tiles.
  void progressed(Clock::time_point now) noexcept;
  /// The lane asks the device how it is.
  void asked(Clock::time_point now) noexcept { asked_ = now; }
  /// Counts what one look found, in however many steps.
  void looked(std::uint64_t retired, std::size_t in_flight) noexcept;
  /// The lane heard something of its device.
  void heard() noexcept { ++news_; }
  /// The lane is about to sleep until it is woken.
  void rests() noexcept { news_ = 0; }

  /// True if the lane is to be called for tiles that it puts, since it gets to sleep.
  bool wants_calls() const noexcept;
  /// True if the device was not asked for as long as the watchdog may sleep.
  bool overdue(Clock::time_point now) const noexcept { return now - asked_ >= watchdog_; }
  /// True if the device, which has tiles, has finished none for as long as the lane has patience. Counts the time until
  /// it was asked last.
  bool out_of_patience() noexcept { return patience_.runs_out(asked_); }
  /// Time to sleep while the device has enough to do without this lane; 0 if it has not (docs/decisions/lanes.md).
  std::chrono::nanoseconds idle_budget(std::size_t in_flight, Clock::time_point now) const noexcept;
  /// True if a lane that has nothing to do, and is awake since `since`, looks again.
  bool stays_awake(std::size_t in_flight, Clock::time_point since, Clock::time_point now) const noexcept;
  /// Maximum time that a lane sleeps that hears nothing.
  std::chrono::nanoseconds longest_sleep(std::size_t in_flight) const noexcept;

 private:
  /// Number of tiles that are enough work for a device.
  std::size_t half_of_slots() const noexcept { return (slots_ + 1) / 2; }

  std::size_t const slots_;
  std::chrono::nanoseconds const spin_;
  std::chrono::nanoseconds const watchdog_;
  bool const called_;
  std::uint64_t news_ = 0;   ///< Times that it heard something since it last rested.
  Clock::time_point asked_;  ///< Time at which the lane last knew how its device was.
  /// Time at which the device last finished a tile, or got one while it had none.
  Clock::time_point progress_;
  Patience patience_;
  ServiceRate rate_;
  std::uint64_t counted_ = 0;     ///< Tiles that `rate_` knows of, or never will.
  Clock::time_point counted_at_;  ///< Time at which the last of them was through.
};

}  // namespace penstock
