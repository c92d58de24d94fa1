// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lookout.hpp"

#include <algorithm>

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// With this much news since the last sleep, a lane counts as one that does not get to sleep.
constexpr std::uint64_t often = 4;
/// Time that a lane sleeps between two looks at a device that does not call it, unless it may spin.
constexpr std::chrono::microseconds between_looks{50};
/// To fall asleep and wake up takes some microseconds of CPU, and about as long again passes until the thread runs.
constexpr nanoseconds shortest_nap = std::chrono::microseconds(50);
/// In this time a lane wakes up, perhaps late, and puts what waits for it.
constexpr nanoseconds least_work_left = std::chrono::microseconds(150);
/// The value matters little (docs/decisions/lanes.md). Where a tile takes longer than eight of these, the longest nap
/// is an eighth of that time, but no longer than the watchdog sleeps.
constexpr nanoseconds longest_nap = std::chrono::milliseconds(1);

}  // namespace

Lookout::Lookout(LaneOptions const& options, bool called, Clock::time_point now) noexcept
    : slots_(options.flight.slots),
      spin_(options.spin),
      watchdog_(options.watchdog),
      called_(called),
      asked_(now),
      progress_(now),
      patience_(options.flight.patience, options.watchdog, now),
      counted_at_(now) {}

void Lookout::began(Clock::time_point now, std::uint64_t retired) noexcept {
  progressed(now);
  counted_at_ = now;
  counted_ = retired;
}

void Lookout::progressed(Clock::time_point now) noexcept {
  progress_ = asked_ = now;
  patience_.renew(now);
}

/// If the device has nothing left, it is unknown when it ran dry.
void Lookout::looked(std::uint64_t retired, std::size_t in_flight) noexcept {
  if (retired == counted_) return;
  if (in_flight > 0) rate_.add(progress_ - counted_at_, retired - counted_);
  counted_ = retired;
  counted_at_ = progress_;
}

/// A call that is asked for early comes in time. A call that is asked for at the last moment finds the processor
/// asleep, too, and comes up to half a millisecond late. A lane that does not get to sleep needs no calls, and many
/// calls are slow: at 4 KiB four lanes get through twice as many tiles without them (bench/engine/lane/signal_bench).
bool Lookout::wants_calls() const noexcept {
  return news_ < often;
}

nanoseconds Lookout::idle_budget(std::size_t in_flight, Clock::time_point now) const noexcept {
  if (spin_.count() == 0 || spin_ >= spin_for_ever) return {};
  if (in_flight <= half_of_slots()) return {};
  nanoseconds const work = rate_.of(in_flight) - (now - progress_);
  // Long kernels need no look each millisecond. But the watchdog's turn must come in time, and the lane's patience
  // counts only time that it sees pass.
  nanoseconds const longest = std::max(longest_nap, std::min(rate_.of(1) / 8, watchdog_));
  nanoseconds const most = std::min(work - std::max(rate_.of(half_of_slots()), least_work_left), longest);
  if (most < shortest_nap) return {};
  // The lane sleeps until about a quarter is through, if nothing delays it; then it looks again and again.
  std::size_t const three_quarters = half_of_slots() + half_of_slots() / 2;
  return std::clamp(work - rate_.of(three_quarters), shortest_nap, most);
}

bool Lookout::stays_awake(std::size_t in_flight, Clock::time_point since, Clock::time_point now) const noexcept {
  bool const must_look = spin_.count() != 0 && !called_ && in_flight > 0;
  return now - since < spin_ || must_look;
}

nanoseconds Lookout::longest_sleep(std::size_t in_flight) const noexcept {
  if (in_flight == 0) return std::chrono::hours(1);
  return called_ ? watchdog_ : std::min<nanoseconds>(watchdog_, between_looks);
}

}  // namespace penstock
