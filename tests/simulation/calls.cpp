// SPDX-License-Identifier: Apache-2.0
// Promises of the simulation for the system's calls, held by a scenario. Each thread has its own variables and
// exceptions, waits end by the clock of the simulation, and threads that wait for each other are found.
#include "simulation/calls.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chaos/delays.hpp"
#include <time.h>

namespace penstock::simulation {
namespace {

using chaos::Case;
using std::chrono::steady_clock;

/// Says on its death whose it was.
struct Mark {
  std::atomic<unsigned>* deaths = nullptr;
  ~Mark() {
    if (deaths != nullptr) deaths->fetch_add(1);
  }
};
thread_local unsigned number_here = 0;
thread_local Mark mark;

/// Runs as many threads as it is told.
void keep_variables_apart(Case& the_case, unsigned threads) {
  std::atomic<unsigned> deaths{0}, calls{0};
  std::once_flag once;
  {
    std::vector<std::jthread> all;
    for (unsigned k = 1; k <= threads; ++k) {
      all.emplace_back([&, k] {
        the_case.expect(number_here == 0, "a new thread finds another's variable");
        number_here = k;
        mark.deaths = &deaths;
        std::call_once(once, [&] { calls.fetch_add(1); });
        the_case.expect(calls.load() == 1, "a call that is made once was not made");
        try {
          throw std::runtime_error(std::to_string(k));
        } catch (std::runtime_error const& error) {
          for (unsigned i = 0; i < 3; ++i) std::this_thread::yield();
          try {
            throw;  // The one that is being handled here.
          } catch (std::runtime_error const& again) {
            the_case.expect(again.what() == std::to_string(k), "a thread handles another's exception");
          }
        }
        the_case.expect(number_here == k, "a thread has written another's variable");
      });
    }
  }
  the_case.expect(deaths.load() == threads, "a thread's variables were not destroyed at its end");
}

void wait_by_the_clock(Case& the_case) {
  auto const expect_passed = [&](steady_clock::time_point since, std::chrono::nanoseconds span, char const* what) {
    auto const passed = steady_clock::now() - since;
    the_case.expect(passed >= span, std::string(what) + " ends early");
    the_case.expect(passed < span + std::chrono::seconds(1), std::string(what) + " ends late");
  };
  auto began = steady_clock::now();
  timespec const hour{.tv_sec = 3600, .tv_nsec = 0};
  nanosleep(&hour, nullptr);
  expect_passed(began, std::chrono::hours(1), "a sleep");

  std::mutex mutex;
  std::condition_variable changed;
  began = steady_clock::now();
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::minutes(1), [] { return false; });
  expect_passed(began, std::chrono::minutes(1), "a wait for a condition");
  lock.unlock();

  std::promise<int> promise;
  auto future = promise.get_future();
  began = steady_clock::now();
  the_case.expect(future.wait_for(std::chrono::minutes(2)) == std::future_status::timeout,
                  "a promise that was not kept is kept");
  expect_passed(began, std::chrono::minutes(2), "a wait for a future");
  std::jthread const keeper([&] { promise.set_value(7); });
  the_case.expect(future.get() == 7, "a promise was kept with another value");
}

}  // namespace

void run_calls(Case& the_case) {
  auto const threads = static_cast<unsigned>(the_case.pick("threads", 1, 6));
  chaos::begin(the_case.draw.next(), false);
  keep_variables_apart(the_case, threads);
  wait_by_the_clock(the_case);
}

void run_deadlock(Case& the_case) {
  chaos::begin(the_case.draw.next(), true);
  std::mutex one, two;
  auto const lock_both = [](std::mutex& first, std::mutex& second) {
    std::scoped_lock const outer(first);
    std::scoped_lock const inner(second);
  };
  for (unsigned i = 0; i < 100; ++i) {
    std::jthread const other([&] { lock_both(two, one); });
    lock_both(one, two);
  }
}

}  // namespace penstock::simulation
