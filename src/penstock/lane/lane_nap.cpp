// SPDX-License-Identifier: Apache-2.0
// How a lane knows for how long its device has enough to do without it (decisions/0026).
#include <algorithm>
#include <chrono>

#include "penstock/lane/lane.hpp"

namespace penstock {
namespace {

/// To fall asleep and wake up takes some microseconds of CPU, and about as long again passes until the thread runs.
constexpr std::chrono::nanoseconds shortest_nap = std::chrono::microseconds(50);
/// In this time a lane wakes up, perhaps late, and puts what waits for it.
constexpr std::chrono::nanoseconds least_work_left = std::chrono::microseconds(150);
/// The value matters little (decisions/0026). Where a tile takes longer than eight of these, the longest nap is an
/// eighth of that time, but no longer than the watchdog sleeps.
constexpr std::chrono::nanoseconds longest_nap = std::chrono::milliseconds(1);

}  // namespace

/// Counts what one look found, in however many steps. If the device has nothing left, it is unknown when it ran dry.
void Lane::note_pace() noexcept {
  std::uint64_t const retired = flight_->retired();
  if (retired == paced_) return;
  if (!flight_->empty()) pace_.add(progress_ - paced_at_, retired - paced_);
  paced_ = retired;
  paced_at_ = progress_;
}

bool Lane::must_not_nap() const noexcept {
  return closed_.load(std::memory_order_acquire) || cancelled_.load(std::memory_order_acquire);
}

/// How long to sleep while the device has enough to do without this lane; 0 if it has not.
std::chrono::nanoseconds Lane::time_to_nap(std::chrono::steady_clock::time_point now) const noexcept {
  using std::chrono::nanoseconds;
  if (options_.spin.count() == 0 || options_.spin >= spin_for_ever) return {};
  if (flight_->size() <= half_of_slots() || must_not_nap()) return {};
  nanoseconds const work = pace_.of(flight_->size()) - (now - progress_);
  // Long kernels need no look each millisecond. But the watchdog's turn must come in time, and the lane's patience
  // counts only time that it sees pass.
  nanoseconds const longest = std::max(longest_nap, std::min(pace_.of(1) / 8, options_.watchdog));
  nanoseconds const most = std::min(work - std::max(pace_.of(half_of_slots()), least_work_left), longest);
  if (most < shortest_nap) return {};
  // Until about a quarter is through, if nothing delays it; then the lane looks again and again.
  std::size_t const three_quarters = half_of_slots() + half_of_slots() / 2;
  return std::clamp(work - pace_.of(three_quarters), shortest_nap, most);
}

}  // namespace penstock
