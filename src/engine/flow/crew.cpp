// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/crew.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

/// A judgement needs at least this many turns and this much time; for slow tiles, their time alone is enough.
constexpr unsigned turns_to_judge = 16;
constexpr std::chrono::microseconds time_to_judge{500};
constexpr std::chrono::milliseconds time_of_slow_tiles{20};

/// A producer that takes longer to fill a tile than it takes to wake it is worth having at work when several tiles come
/// home together.
constexpr std::chrono::microseconds worth_waking{20};
/// After the last producer goes, the others may be at work for this part of their time, with its work added to theirs.
constexpr double most_of_those_who_stay = 0.8;
/// A producer that fills for less of its time is mostly in the way of the others: at 64 KiB thirteen that fill nothing
/// reached six tenths of what one does.
constexpr double least_filling = 0.15;
/// A producer that waits for at most `hardly_waiting` of its time, and fills for at least `mostly_filling`, needs help.
constexpr double hardly_waiting = 0.1;
constexpr double mostly_filling = 0.3;

}  // namespace

Crew::Crew(std::size_t workers, std::size_t least, std::stop_token stop, std::chrono::nanoseconds patience,
           std::function<void(Clock::time_point)> look)
    : workers_(workers),
      least_(std::max<std::size_t>(1, least)),
      stop_(std::move(stop)),
      patience_(patience),
      look_(std::move(look)),
      at_work_(workers),
      wake_all_(stop_, [this] {
        for (Worker& worker : workers_) worker.bell.notify();
      }) {}

void Crew::note(std::size_t worker, Clock::time_point now, Turn turn) noexcept {
  Worker& its = workers_[worker];
  // Relaxed: only whether it grows is of interest, and only this worker writes it.
  its.tiles.store(its.tiles.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (its.since == Clock::time_point{}) its.since = now - turn.waited - turn.filled;
  its.sum.waited += turn.waited;
  its.sum.filled += turn.filled;
  ++its.turns;
  auto const time = now - its.since;
  if (time < time_to_judge || (its.turns < turns_to_judge && time < time_of_slow_tiles)) return;
  auto const share = [&](std::chrono::nanoseconds part) {
    return static_cast<double>(part.count()) / static_cast<double>(time.count());
  };
  judge(worker, share(its.sum.waited), share(its.sum.filled), its.sum.filled / its.turns > worth_waking);
  if (worker == 0 && look_) look_(now);
  its.begin(now);
}

void Crew::judge(std::size_t worker, double waiting, double filling, bool slow) noexcept {
  std::size_t const now = at_work_.load(std::memory_order_relaxed);
  if (slow) {
    call_in(now);
    return;
  }
  bool const last = worker + 1 == now && now > least_;
  double const crew = static_cast<double>(now);
  bool const others_suffice = last && (1 - waiting) * crew / (crew - 1) < most_of_those_who_stay;
  if (others_suffice || (last && filling < least_filling)) {
    send_home(now);
  } else if (waiting < hardly_waiting && filling > mostly_filling) {
    call_in(now);
  }
}

/// Sends the last of `at_work` producers to rest. False if another number is at work now.
bool Crew::send_home(std::size_t at_work) noexcept {
  return at_work_.compare_exchange_strong(at_work, at_work - 1, std::memory_order_seq_cst);
}

/// Brings back the next after `at_work` producers. False if another number is at work now, or there is no next one.
bool Crew::call_in(std::size_t at_work) noexcept {
  if (at_work == workers_.size()) return false;
  if (!at_work_.compare_exchange_strong(at_work, at_work + 1, std::memory_order_seq_cst)) return false;
  workers_[at_work].bell.notify();
  // The next worker keeps watch from now on.
  if (at_work + 1 < workers_.size()) workers_[at_work + 1].bell.notify();
  if (look_) look_(Clock::now());
  return true;
}

std::chrono::nanoseconds Crew::rest(std::size_t worker) {
  Worker& its = workers_[worker];
  auto const began = Clock::now();
  while (!stop_.stop_requested()) {
    std::size_t const now = at_work_.load(std::memory_order_seq_cst);
    if (worker < now) break;
    bool const keeps_watch = worker == now;
    auto const changed = [&] { return at_work_.load(std::memory_order_seq_cst) != now || stop_.stop_requested(); };
    std::uint64_t const seen = tiles();
    if (its.bell.await(changed, {}, keeps_watch ? patience_ : std::chrono::hours(1))) continue;
    if (!keeps_watch || tiles() != seen) continue;
    last_want_.store(Clock::now(), std::memory_order_relaxed);
    call_in(now);
  }
  auto const ended = Clock::now();
  its.begin({});
  rested_.fetch_add((ended - began).count(), std::memory_order_relaxed);
  return ended - began;
}

std::uint64_t Crew::tiles() const noexcept {
  std::uint64_t sum = 0;
  for (Worker const& worker : workers_) sum += worker.tiles.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace penstock
