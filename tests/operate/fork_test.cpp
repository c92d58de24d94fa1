// SPDX-License-Identifier: Apache-2.0
// A child of fork has copies of what watches the program, and leaves the parent's alone.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "support/child_of_fork.hpp"
#include "support/thread_state.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

/// The thread of this process that has this name.
std::optional<pid_t> thread_named(std::string const& name) {
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string its;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, its);
    if (its == name) return std::stoi(task.path().filename());
  }
  return std::nullopt;
}

/// Seen to fail where the child rang the descriptor that it shares with the parent: its watching thread ended.
TEST(AChildOfFork, LeavesTheSignalsToItsParent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        StopSignals signals;
        if (support::exit_code_of_child_that_destroys(signals) != 7) std::_Exit(1);
        kill(getpid(), SIGINT);
        std::mutex mutex;
        std::condition_variable_any requested;
        std::unique_lock lock(mutex);
        // The request ends it; the time is for a parent that hears none.
        requested.wait_for(lock, signals.token(), std::chrono::seconds(60), [] { return false; });
        std::_Exit(signals.requested() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

/// Seen to fail where the child rang the bell that it shares with the parent: its thread never slept again.
TEST(AChildOfFork, LeavesTheMetricsToItsParent) {
  alarm(120);  // For a thread that never sleeps.
  MetricsServer server("127.0.0.1:0", {});
  EXPECT_EQ(support::exit_code_of_child_that_destroys(server), 7);
  std::optional<pid_t> thread;
  while (!(thread = thread_named("ps-metrics"))) std::this_thread::yield();  // It names itself.
  support::await_asleep(*thread);
  alarm(0);
}

}  // namespace
}  // namespace penstock
