// SPDX-License-Identifier: Apache-2.0
#include "models/host_keeper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "models/host_account.hpp"

namespace penstock::cpu {
namespace {

using std::int64_t;

int64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void let_time_pass(int64_t nanoseconds) noexcept {
  timespec const time{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  nanosleep(&time, nullptr);
}

/// A thread's clocks, at about the same moment.
struct Look {
  int64_t real = 0;
  int64_t cpu = 0;

  static Look now() noexcept {
    int64_t const real = read_clock(CLOCK_MONOTONIC);
    return {.real = real, .cpu = read_clock(CLOCK_THREAD_CPUTIME_ID)};
  }
};

/// CPU time that a look adds to a thread's: the median, since a look that is held up adds more.
int64_t cost_of_a_look() noexcept {
  static int64_t const cost = [] {
    std::array<int64_t, 101> costs;
    for (int64_t& each : costs) {
      Look const before = Look::now();
      each = Look::now().cpu - before.cpu;
    }
    std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
    return costs[costs.size() / 2];
  }();
  return cost;
}

/// Time that the calling thread has waited for a CPU since it began; 0 where the system does not say.
int64_t waited_for_cpus() noexcept {
  int const file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 64> text{};
  ssize_t const length = read(file, text.data(), text.size() - 1);
  close(file);
  // Time on a CPU, time of waiting for one, and how often.
  char const* const space = length > 0 ? std::strchr(text.data(), ' ') : nullptr;
  return space != nullptr ? std::strtoll(space, nullptr, 10) : 0;
}

constexpr int64_t nap_length = 20'000;
/// Nanoseconds. A thread that waits for work looks for it some microseconds before it sleeps, and uses less of a CPU.
constexpr int64_t most_of_a_wait = 1'000'000;

// Sums over all threads. Relaxed: they guard nothing.
std::atomic<int64_t> all_due{0};
std::atomic<int64_t> all_lost{0};

class Account {
 public:
  Account() noexcept : waited_(waited_for_cpus()) {
    // Otherwise each sleep takes 50 us more than was asked for.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    skip();
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): it begins when all this is done.
    began_ = seen_.real;
  }
  void skip() noexcept { seen_ = Look::now(); }
  void forget() noexcept {
    Look const before = seen_;
    skip();
    int64_t const real = seen_.real - before.real, cpu = seen_.cpu - before.cpu;
    forgotten_ += real;
    // One that did next to nothing was woken, and the time until it had a CPU is lost to its work.
    if (cpu > most_of_a_wait || real - cpu < HostAccount::least_wait) return;
    account_.woke_late(std::min(real - cpu, newly_waited()));
    book();
  }
  /// The system's time since this account began, without what was forgotten.
  int64_t not_forgotten() const noexcept { return seen_.real - began_ - forgotten_; }
  void take_work() noexcept {
    Look const now = Look::now();
    int64_t const work = std::max<int64_t>(0, now.cpu - seen_.cpu - cost_of_a_look());
    // Most often it had the CPU all the time. Else it waited for that, or for something else: the system knows.
    int64_t const away = now.real - seen_.real - (now.cpu - seen_.cpu);
    account_.work(work, away < HostAccount::least_wait ? 0 : std::min(away, newly_waited()), Clock::slower());
    seen_ = now;
  }
  void take_call(int64_t cost) noexcept { account_.call(cost); }
  void settle() noexcept {
    int64_t const owed = account_.rest();
    if (owed == 0) return;
    int64_t const slept = sleep(owed);
    take_waits_of_a_sleep(slept - owed);
    account_.rested(slept);
    book();
  }
  /// Sleeps until `left` says that there is nothing left to wait for.
  template <class Left>
  void wait(Left left) noexcept {
    int64_t time = left();
    if (time <= 0) return;
    for (; time > 0; time = left()) let_time_pass(time);
    take_waits_of_a_sleep(-time);
    account_.woke_late(-time);
    book();
  }
  void nap() noexcept {
    account_.woke_late(sleep(nap_length) - nap_length);
    book();
  }

 private:
  /// Returns: how long it really took.
  static int64_t sleep(int64_t time) noexcept {
    int64_t const before = read_clock(CLOCK_MONOTONIC);
    let_time_pass(time);
    return read_clock(CLOCK_MONOTONIC) - before;
  }
  /// Waits for a CPU at the end of a sleep count with the sleep, and not again with what comes next.
  void take_waits_of_a_sleep(int64_t late) noexcept {
    if (late >= HostAccount::least_wait) static_cast<void>(newly_waited());
  }
  int64_t newly_waited() noexcept {
    int64_t const before = std::exchange(waited_, waited_for_cpus());
    return std::max<int64_t>(0, waited_ - before);
  }
  void book() noexcept {
    auto const [due, lost] = account_.take_due_and_lost();
    if (due != 0) all_due.fetch_add(due, std::memory_order_relaxed);
    if (lost != 0) all_lost.fetch_add(lost, std::memory_order_relaxed);
  }

  HostAccount account_;
  Look seen_;           ///< The look up to which all is accounted for.
  int64_t waited_ = 0;  ///< Time of waiting for CPUs, at the last look at it.
  int64_t began_ = 0;
  int64_t forgotten_ = 0;
};

Account& mine() noexcept {
  thread_local Account account;
  return account;
}

/// Keeps the time of all threads of the process: each has an account.
class ModelledHost final : public HostKeeper {
 public:
  void pay() noexcept override {
    mine().take_work();
    settle();
  }
  void forget() noexcept override { mine().forget(); }
  void end_call(std::chrono::nanoseconds cost) noexcept override {
    mine().take_call(Clock::real(cost).count());
    settle();
  }
  void nap() noexcept override {
    pay();
    mine().nap();
    mine().skip();
  }
  std::chrono::nanoseconds cpu_time() noexcept override {
    pay();
    return std::chrono::nanoseconds(mine().not_forgotten() / Clock::slower());
  }
  double take_lost_part() noexcept override {
    auto const lost = static_cast<double>(all_lost.exchange(0, std::memory_order_relaxed));
    auto const due = static_cast<double>(all_due.exchange(0, std::memory_order_relaxed));
    return due > 0 ? lost / due : 0;
  }

 private:
  static void settle() noexcept {
    mine().settle();
    mine().skip();
  }
};

}  // namespace

void slow_clock(unsigned factor) {
  // It is never destroyed: threads that end with the process still pay.
  static auto& keeper = *new ModelledHost;
  HostTime::keep_by(keeper);
  Clock::slow_down(factor);
}

void wait_until(Clock::time_point when) noexcept {
  HostTime::pay();
  mine().wait([when] { return static_cast<int64_t>(Clock::real(when - Clock::now()).count()); });
  HostTime::forget();
}

}  // namespace penstock::cpu
