// SPDX-License-Identifier: Apache-2.0
#include "chaos/watchdog.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "chaos/delays.hpp"
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace penstock::chaos {
namespace {

constexpr long between_looks = 25'000'000;
/// A scenario may check nothing for so many looks while all its threads had CPUs. None takes a tenth of that.
constexpr unsigned most_still_looks = 120;
/// A scenario may check nothing for so many looks, whatever its threads had.
constexpr unsigned most_looks = 4'800;
/// All threads together may wait so long for a CPU from one look to the next.
constexpr std::uint64_t little_delay = 12'000'000;
constexpr std::clock_t most_cpu_seconds = 60;
/// Signal at which a thread shows where it is.
constexpr int show_stack = SIGUSR1;

void print_stack(int) {
  void* frames[48];
  int const count = backtrace(frames, 48);
  dprintf(STDERR_FILENO, "thread %ld:\n", syscall(SYS_gettid));
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

/// Calls `body(number, folder)` for each thread but the calling one.
template <class Body>
void for_each_other_thread(Body body) {
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/self/task", gone), end; !gone && task != end;
       task.increment(gone)) {
    long const number = std::stol(task->path().filename());
    if (number != syscall(SYS_gettid)) body(number, task->path());
  }
}

/// Returns how long all other threads have waited for CPUs, in nanoseconds. It shrinks when threads end.
std::uint64_t delay_of_others() {
  std::uint64_t sum = 0;
  for_each_other_thread([&](long, std::filesystem::path const& folder) {
    std::uint64_t ran = 0, waited = 0;
    if (std::ifstream(folder / "schedstat") >> ran >> waited) sum += waited;
  });
  return sum;
}

[[noreturn]] void give_up(Case& the_case, char const* why) {
  std::fprintf(stderr, "\nFAILED, %s\n  options: %s\n  schedule: %s\n  again: %s\n", why, the_case.options().c_str(),
               describe_schedule().c_str(), command_for(the_case).c_str());
  for (auto const& finding : the_case.findings()) std::fprintf(stderr, "  %s\n", finding.c_str());
  std::fprintf(stderr, "  addr2line -Cfipe PROGRAM shows what the stacks mean\n");
  timespec const pause{.tv_sec = 0, .tv_nsec = 20'000'000};
  for_each_other_thread([&](long thread, std::filesystem::path const&) {
    syscall(SYS_tgkill, getpid(), thread, show_stack);
    nanosleep(&pause, nullptr);
  });
  std::fflush(nullptr);
  _exit(3);
}

}  // namespace

std::string command_for(Case const& the_case) {
  return "build/chaos/bin/" + std::string(program_invocation_short_name) + " --scenario " + the_case.scenario() +
         " --seed " + std::to_string(the_case.seed()) + " --count 200 --same";
}

Watchdog::Watchdog() {
  struct sigaction action {};
  action.sa_handler = print_stack;
  action.sa_flags = SA_RESTART;
  sigaction(show_stack, &action, nullptr);
  void* frames[1];
  backtrace(frames, 1);  // It loads a library when it is called first, which a signal handler must not.
  thread_ = std::thread([this] { body(); });
}

Watchdog::~Watchdog() {
  over_.store(true);
  thread_.join();
}

void Watchdog::body() {
  leave_this_thread_alone();
  std::uint64_t watch = 0, checks = 0, delay = 0;
  unsigned still = 0, looks = 0;
  std::clock_t began = 0;
  timespec const pause{.tv_sec = 0, .tv_nsec = between_looks};
  while (!over_.load()) {
    nanosleep(&pause, nullptr);
    std::scoped_lock const lock(mutex_);
    std::uint64_t const watch_before = std::exchange(watch, watches_);
    std::uint64_t const checks_before = checks;
    Case* const now = watched_;
    if (now == nullptr || watch != watch_before) {
      began = std::clock();
      checks = still = looks = 0;
      continue;
    }
    checks = now->checks();
    if (checks != checks_before) {
      still = looks = 0;
      continue;
    }
    std::uint64_t const delay_before = std::exchange(delay, delay_of_others());
    ++looks;
    if (delay <= delay_before + little_delay) ++still;
    if (still >= most_still_looks || looks >= most_looks) give_up(*now, "it hangs");
    if ((std::clock() - began) / CLOCKS_PER_SEC >= most_cpu_seconds) give_up(*now, "it computes without an end");
  }
}

}  // namespace penstock::chaos
