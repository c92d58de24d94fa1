// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/host_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>

#include <sys/prctl.h>

namespace penstock {
namespace {

using std::int64_t;

int64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t cpu_time() noexcept {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void let_time_pass(int64_t nanoseconds) noexcept {
  timespec const time{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  nanosleep(&time, nullptr);
}

/// What a look at a thread's CPU time adds to it: most often, since a look that is held up adds more.
int64_t cost_of_a_look() noexcept {
  static int64_t const cost = [] {
    std::array<int64_t, 101> costs;
    for (int64_t& each : costs) {
      int64_t const before = cpu_time();
      each = cpu_time() - before;
    }
    std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
    return costs[costs.size() / 2];
  }();
  return cost;
}

/// Sleeps are not worth while below; and no more is ever saved up, by sleeps that were too long.
constexpr int64_t least_sleep = 20'000;
constexpr int64_t most_saved = 500'000;
constexpr int64_t nap_length = 20'000;

struct Account {
  int64_t seen = 0;  ///< CPU time up to here is accounted for.
  int64_t owed = 0;  ///< In nanoseconds of the system; less than 0 is saved.

  Account() noexcept {
    // Else each sleep takes 50 us more than was asked for.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    seen = cpu_time();
  }
  void skip() noexcept { seen = cpu_time(); }
  void take_work() noexcept {
    int64_t const now = cpu_time();
    owed += std::max<int64_t>(0, now - seen - cost_of_a_look()) * (int64_t{Clock::slower()} - 1);
    seen = now;
  }
  void settle() noexcept {
    if (owed < least_sleep) return;
    int64_t const before = read_clock(CLOCK_MONOTONIC);
    let_time_pass(owed);
    owed = std::max(owed - (read_clock(CLOCK_MONOTONIC) - before), -most_saved);
  }
};

Account& mine() noexcept {
  thread_local Account account;
  return account;
}

}  // namespace

void HostTime::pay_for_work() noexcept {
  mine().take_work();
  mine().settle();
  mine().skip();
}

void HostTime::forget() noexcept {
  if (Clock::slower() != 1) mine().skip();
}

void HostTime::begin_call() noexcept {
  pay();
}

void HostTime::end_call(std::chrono::nanoseconds cost) noexcept {
  if (Clock::slower() == 1) return;
  mine().owed += Clock::real(cost).count();
  mine().settle();
  mine().skip();
}

void HostTime::wait_until(Clock::time_point when) noexcept {
  pay();
  for (auto left = when - Clock::now(); left.count() > 0; left = when - Clock::now()) {
    let_time_pass(Clock::real(left).count());
  }
  forget();
}

void HostTime::nap() noexcept {
  pay_for_work();
  let_time_pass(nap_length);
  mine().skip();
}

}  // namespace penstock
