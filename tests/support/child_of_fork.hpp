// SPDX-License-Identifier: Apache-2.0
// A child of fork that has copies of the test's objects.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "support/left_alive.hpp"
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::support {

/// How often a child that does not end is made again. The address sanitizer's allocator has locks that it does not
/// take for a fork: if another thread has one at that moment, the child waits for it for ever.
#ifdef __SANITIZE_ADDRESS__
inline constexpr int children_at_most = 3;
#else
inline constexpr int children_at_most = 1;
#endif

/// Forks a child that calls `body` and ends by `exit` with what that returns. Returns its exit code; -1 if it did not
/// end by itself within a minute.
template <class Body>
int exit_code_of_child(Body const& body) {
  std::fflush(nullptr);  // The child would write it once more.
  for (int made = 0; made < children_at_most; ++made) {
    pid_t const child = fork();
    if (child == 0) {
      // StopSignals blocks the signal, and the alarm is not inherited.
      sigset_t alarms;
      sigemptyset(&alarms);
      sigaddset(&alarms, SIGALRM);
      pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
      alarm(60);
      ends_with_live_threads = true;
      std::exit(body());
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM) return -1;
  }
  return -1;
}

/// The exit code of a child of fork that destroys these in their order and ends with 7, as if they were static.
template <class... Objects>
int exit_code_of_child_that_destroys(Objects&... objects) {
  return exit_code_of_child([&] {
    (std::destroy_at(&objects), ...);
    return 7;
  });
}

}  // namespace penstock::support
