// SPDX-License-Identifier: Apache-2.0
#include "chaos/delays.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "chaos/draw.hpp"
#include <sched.h>
#include <time.h>

extern "C" char const __executable_start;

namespace penstock::chaos {
namespace {

/// Threads that are older than the schedule are numbered from here on, in the order of their first operation.
constexpr std::uint64_t first_older_thread = 1'000;
/// Bounds of a schedule, so low that it takes milliseconds.
constexpr std::uint64_t most_naps = 64;
constexpr std::uint64_t most_stops = 12;
/// A stopped thread goes on once no other does anything for so many naps: the others may wait for it. Or after so many
/// in all, since those that wait may look now and then.
constexpr unsigned most_idle_naps = 20;
constexpr unsigned most_naps_of_a_stop = 400;

/// Rates at which threads are disturbed; every number is "one in so many", and 0 for never.
struct Schedule {
  std::uint64_t seed = 0;
  std::uint64_t yields = 0;
  std::uint64_t spins = 0;
  std::uint64_t naps = 0;
  std::uint64_t stops = 0;
  unsigned stop_bits = 0;   ///< A stop lasts up to two to so many operations of other threads.
  std::uint64_t sites = 0;  ///< Places in the code at which every thread is delayed.
  std::uint64_t ranks = 0;  ///< Operations, on average, after which a thread gets another rank.
  std::uint64_t weak = 0;
  std::uint64_t early = 0;
  bool endless_waits = false;
};

Schedule schedule;
std::atomic<std::uint64_t> epoch{0};  ///< 0 while there is no schedule.
std::uint64_t epochs = 0;
std::atomic<std::uint64_t> done{0};
std::atomic<std::uint64_t> next_thread{0}, next_older_thread{0};
std::atomic<std::uint64_t> naps_left{0}, stops_left{0};
std::atomic<bool> one_is_stopped{false};

struct ThreadState {
  std::uint64_t epoch = 0;
  Draw draw{0};
  std::uint64_t rank = 0;  ///< 0 goes before all others.
  bool left_alone = false;
};
constinit thread_local ThreadState here;

void start_thread(std::uint64_t number) noexcept {
  here.epoch = epoch.load();
  here.draw = Draw(schedule.seed ^ (number + 1) * 0xd1342543de82ef95ULL);
  here.rank = here.draw.below(4);
}

bool strikes(std::uint64_t one_in) noexcept {
  return one_in != 0 && here.draw.one_in(one_in);
}

void nap_for(long nanoseconds) noexcept {
  timespec const time{.tv_sec = 0, .tv_nsec = nanoseconds};
  nanosleep(&time, nullptr);
}

bool take_one(std::atomic<std::uint64_t>& budget) noexcept {
  std::uint64_t left = budget.load(std::memory_order_relaxed);
  while (left > 0) {
    if (budget.compare_exchange_weak(left, left - 1)) return true;
  }
  return false;
}

void spin(std::uint64_t rounds) noexcept {
  for (std::uint64_t i = 0; i < rounds; ++i) asm volatile("" ::: "memory");
}

/// Stands still until the others have done so many operations.
void stop_here(std::uint64_t others) noexcept {
  if (one_is_stopped.exchange(true)) return;
  std::uint64_t const end = done.load() + others;
  std::uint64_t seen = done.load();
  unsigned idle = 0;
  for (unsigned naps = 0; seen < end && idle < most_idle_naps && naps < most_naps_of_a_stop; ++naps) {
    nap_for(20'000);
    std::uint64_t const now = done.load();
    idle = now == seen ? idle + 1 : 0;
    seen = now;
  }
  one_is_stopped.store(false);
}

void delay_at_site() noexcept {
  if (here.draw.one_in(4) && take_one(naps_left)) {
    nap_for(10'000);
  } else {
    sched_yield();
  }
}

bool is_chosen(void const* site) noexcept {
  auto const offset = static_cast<std::uint64_t>(static_cast<char const*>(site) - &__executable_start);
  return schedule.sites != 0 && Draw(schedule.seed ^ offset).one_in(schedule.sites);
}

void draw_schedule(std::uint64_t seed, bool endless) {
  Draw draw(seed ^ 0x5eed);
  schedule = {.seed = draw.next(), .endless_waits = endless};
  schedule.weak = std::uint64_t{2} << draw.below(5);
  schedule.early = std::uint64_t{2} << draw.below(4);
  switch (draw.below(6)) {
    case 0:  // Short delays here and there.
      schedule.spins = draw.of_any_size(8);
      schedule.yields = draw.of_any_size(10);
      break;
    case 1:  // Every thread hands its CPU on all the time.
      schedule.yields = draw.between(1, 8);
      break;
    case 2:  // One thread stands still for long.
      schedule.stops = draw.of_any_size(12);
      schedule.stop_bits = static_cast<unsigned>(draw.between(4, 17));
      break;
    case 3:  // Threads have ranks, which change.
      schedule.ranks = draw.of_any_size(12);
      break;
    case 4:  // Some places in the code are slow.
      schedule.sites = std::uint64_t{2} << draw.below(6);
      break;
    default:  // A little of everything.
      schedule.yields = 16 * draw.of_any_size(6);
      schedule.spins = 8 * draw.of_any_size(6);
      schedule.naps = 64 * draw.of_any_size(8);
      schedule.stops = 64 * draw.of_any_size(8);
      schedule.stop_bits = 10;
      schedule.sites = 64;
  }
  naps_left.store(most_naps);
  stops_left.store(most_stops);
}

}  // namespace

void begin(std::uint64_t seed, bool endless) {
  calm();
  draw_schedule(seed, endless);
  next_thread.store(1);
  next_older_thread.store(first_older_thread);
  epoch.store(++epochs);
  start_thread(0);
}

void calm() noexcept {
  epoch.store(0);
}

void leave_this_thread_alone() noexcept {
  here.left_alone = true;
}

std::uint64_t operations() noexcept {
  return done.load(std::memory_order_relaxed);
}

bool endless_waits() noexcept {
  return epoch.load(std::memory_order_relaxed) != 0 && schedule.endless_waits;
}

std::string describe_schedule() {
  std::string text;
  auto const add = [&](char const* what, std::uint64_t number) {
    if (number != 0) text += std::string(text.empty() ? "" : ", ") + what + " 1 in " + std::to_string(number);
  };
  add("yields", schedule.yields);
  add("spins", schedule.spins);
  add("naps", schedule.naps);
  add("stops", schedule.stops);
  add("slow sites", schedule.sites);
  add("new ranks", schedule.ranks);
  add("weak exchanges fail", schedule.weak);
  add("early wake-ups", schedule.early);
  return text + (schedule.endless_waits ? ", waits without timeouts" : "");
}

void count_operation() noexcept {
  done.fetch_add(1, std::memory_order_relaxed);
}

void disturb(void const* site) noexcept {
  std::uint64_t const now = epoch.load(std::memory_order_relaxed);
  if (now == 0 || here.left_alone) return;
  if (here.epoch != now) start_thread(next_older_thread.fetch_add(1));
  if (strikes(schedule.yields)) sched_yield();
  if (strikes(schedule.spins)) spin(here.draw.of_any_size(12));
  if (strikes(schedule.naps) && take_one(naps_left)) nap_for(static_cast<long>(here.draw.of_any_size(16)));
  if (is_chosen(site)) delay_at_site();
  if (strikes(schedule.ranks)) here.rank = here.draw.below(4);
  if (schedule.ranks != 0 && here.rank != 0 && here.draw.below(4) < here.rank) sched_yield();
  if (strikes(schedule.stops) && take_one(stops_left)) stop_here(here.draw.of_any_size(schedule.stop_bits));
}

bool fails_weakly() noexcept {
  return epoch.load(std::memory_order_relaxed) != 0 && !here.left_alone && strikes(schedule.weak);
}

bool wakes_early() noexcept {
  return epoch.load(std::memory_order_relaxed) != 0 && !here.left_alone && strikes(schedule.early);
}

std::uint64_t number_for_thread() noexcept {
  return next_thread.fetch_add(1);
}

void begin_thread(std::uint64_t number) noexcept {
  if (epoch.load() == 0) return;
  start_thread(number);
  disturb(nullptr);
  if (here.draw.one_in(4) && take_one(naps_left)) nap_for(static_cast<long>(here.draw.of_any_size(18)));
}

/// Test programs that know nothing of schedules get theirs from the environment.
__attribute__((constructor)) static void begin_by_environment() {
  if (char const* const seed = std::getenv("PENSTOCK_CHAOS_SEED")) begin(std::strtoull(seed, nullptr, 10), false);
}

}  // namespace penstock::chaos
