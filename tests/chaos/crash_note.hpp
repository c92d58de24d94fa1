// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <signal.h>
#include <unistd.h>

namespace penstock::chaos {

/// Command that runs the present seed again, for a process that crashes.
inline std::array<char, 256> command_now{};

inline void note_command(std::string const& command) {
  std::snprintf(command_now.data(), command_now.size(), "%s", command.c_str());
}

/// Makes a crash from here on print the command, also if a stack has overflowed.
///
/// Threads: one, before any other.
inline void print_command_on_crash() {
  static std::array<char, 16'384> own_stack;
  stack_t stack{};
  stack.ss_sp = own_stack.data();
  stack.ss_size = own_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  action.sa_handler = [](int signal) {
    dprintf(STDERR_FILENO, "\nFAILED, signal %d\n  again: %s\n", signal, command_now.data());
    raise(signal);
  };
  for (int const signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

}  // namespace penstock::chaos
