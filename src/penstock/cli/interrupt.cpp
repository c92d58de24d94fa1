// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/interrupt.hpp"

#include <csignal>

#include <pthread.h>
#include <unistd.h>

#include "penstock/cli/exit_code.hpp"

namespace penstock::cli {
namespace {

/// The signals that ask us to end, and the one with which we wake the watcher when nobody did.
sigset_t watched() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

Interrupt::Interrupt() {
  sigset_t const signals = watched();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::jthread([this](std::stop_token const& done) { watch(done); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

void Interrupt::watch(std::stop_token const& done) {
  pthread_setname_np(pthread_self(), "ps-signals");
  sigset_t const signals = watched();
  while (!done.stop_requested()) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || signal == SIGUSR2) continue;
    if (!stop_.request_stop()) _exit(exit_interrupted);
  }
}

}  // namespace penstock::cli
