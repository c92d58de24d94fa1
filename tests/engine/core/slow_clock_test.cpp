// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "engine/core/event_count.hpp"
#include "engine/core/host_time.hpp"
#include "models/host_keeper.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;
using System = std::chrono::steady_clock;

constexpr unsigned factor = 20;

/// The process has one clock: each test slows it by the same factor.
class SlowClock : public testing::Test {
 protected:
  SlowClock() { cpu::slow_clock(factor); }
};

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

TEST_F(SlowClock, ShowsAFractionOfTheSystemsTime) {
  auto const before = System::now();
  auto const shown = Clock::now();
  auto const real = System::now();
  while (System::now() - real < 100ms) std::this_thread::yield();
  auto const passed = Clock::now() - shown;
  EXPECT_GE(passed, 100ms / factor);
  EXPECT_LE(passed, (System::now() - before) / factor + 1us);
}

TEST_F(SlowClock, SaysWhenItsTimesAreForTheSystem) {
  auto const shown = Clock::now();
  EXPECT_EQ(Clock::real(shown + 3ms) - Clock::real(shown), 3ms * factor);
  EXPECT_EQ(Clock::real(3ms), 3ms * factor);
  EXPECT_EQ(Clock::real(Clock::time_point::max()), System::time_point::max());
  EXPECT_EQ(Clock::real(Clock::duration::max()), Clock::duration::max());
  EXPECT_LE(Clock::real(shown), System::now());
}

TEST_F(SlowClock, HasOneFactorInAProcess) {
  EXPECT_NO_THROW(Clock::slow_down(factor));
  try {
    Clock::slow_down(factor + 1);
    FAIL() << "it was slowed again";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  }
}

TEST_F(SlowClock, LetsWorkTakeAsLongAsItTakesOnTheSystem) {
  HostTime::pay();
  auto const began = Clock::now();
  auto const cpu = cpu_time();
  while (cpu_time() - cpu < 2ms) {
  }
  HostTime::pay();
  EXPECT_GE(Clock::now() - began, 1900us) << "2 ms of work, less what looking at the CPU time costs";
}

TEST_F(SlowClock, LetsACallCostWhatItsModelSays) {
  HostTime::pay();
  auto const began = Clock::now();
  for (int i = 0; i < 100; ++i) {
    HostTime::begin_call();
    HostTime::end_call(20us);
  }
  EXPECT_GE(Clock::now() - began, 1900us);
}

TEST_F(SlowClock, CountsWorkAndCallsOfAThreadAndNotItsWaits) {
  auto const before = HostTime::cpu_time();
  HostTime::begin_call();
  HostTime::end_call(2ms);
  auto const called = HostTime::cpu_time() - before;
  EXPECT_GE(called, 1900us) << "2 ms, less what is saved of sleeps that were too long";
  auto const cpu = cpu_time();
  while (cpu_time() - cpu < 2ms) {
  }
  auto const worked = HostTime::cpu_time() - before - called;
  EXPECT_GE(worked, 1900us) << "2 ms of work, less what looking at the CPU time costs";
  auto const began = Clock::now();
  cpu::wait_until(began + 50ms);
  EXPECT_LT(HostTime::cpu_time() - before - called - worked, 25ms);
}

TEST_F(SlowClock, LetsAWaitEndWhenItsTimeIsOver) {
  EventCount never_notified;
  auto const began = Clock::now();
  EXPECT_FALSE(never_notified.await([] { return false; }, 100us, 2ms));
  EXPECT_GE(Clock::now() - began, 2ms);
}

/// Keeps the calling thread, and no other, off its CPU: it has that only when nothing else wants it, and something
/// does.
class Crowded {
 public:
  Crowded() {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &here);
    EXPECT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    other_ = std::jthread([](std::stop_token const& stop) {
      while (!stop.stop_requested()) {
      }
    });
    sched_param const none{};
    EXPECT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
  }

 private:
  std::jthread other_;
};

TEST_F(SlowClock, SaysByHowMuchWorkTookLongerBecauseItsThreadWaitedForACpu) {
  double lost = 0;
  std::jthread([&] {
    Crowded const crowded;
    static_cast<void>(HostTime::take_lost_part());
    for (int i = 0; i < 20; ++i) {
      HostTime::begin_call();
      HostTime::end_call(50us);
    }
    lost = HostTime::take_lost_part();
  }).join();
  EXPECT_GT(lost, 0);
}

/// The part of its work that a thread lost which was woken on a CPU that others have.
double lost_by_one_that_is_woken() {
  double lost = 0;
  std::atomic<bool> asleep{false}, woken{false};
  std::jthread sleeper([&] {
    Crowded const crowded;
    HostTime::begin_call();
    HostTime::end_call(50us);
    static_cast<void>(HostTime::take_lost_part());
    HostTime::end_call(500ns);  // Too little for a sleep.
    asleep = true;
    asleep.notify_one();
    woken.wait(false);
    HostTime::forget();
    lost = HostTime::take_lost_part();
  });
  asleep.wait(false);
  woken = true;
  woken.notify_one();
  sleeper.join();
  return lost;
}

/// It may have got the CPU at once, so it is woken until it has not. Seen to fail with a keeper that forgets how long a
/// thread that was woken waited.
TEST_F(SlowClock, CountsTheWaitForACpuOfAThreadThatWasWoken) {
  if (access("/proc/thread-self/schedstat", R_OK) != 0)
    GTEST_SKIP() << "This system does not say how long a thread waited.";
  double lost = 0;
  for (int turn = 0; turn < 20 && lost == 0; ++turn) lost = lost_by_one_that_is_woken();
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace penstock
