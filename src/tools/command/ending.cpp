// SPDX-License-Identifier: Apache-2.0
#include "tools/command/ending.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "penstock/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

constexpr std::array asks_to_end{SIGINT, SIGTERM, SIGHUP};
constexpr std::array kills{SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/// Those of both that have the system's own action: neither ignored, nor taken by a profiler, say.
sigset_t to_watch() {
  sigset_t signals;
  sigemptyset(&signals);
  auto const add = [&](int signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) sigaddset(&signals, signal);
  };
  for (int const signal : asks_to_end) add(signal);
  for (int const signal : kills) add(signal);
  return signals;
}

}  // namespace

std::string unreadable_results(std::exception const& problem) {
  std::string words = problem.what();
  // "[json.exception.parse_error.101] " names a type of the parser's, and nothing that a user can do.
  if (std::size_t const end = words.find("] "); words.starts_with('[') && end != std::string::npos)
    words.erase(0, end + 2);
  return "Results of another process cannot be read (" + words +
         "): use programs of one build, and see that none of them was stopped.";
}

Complaint complaint_about(std::exception const& failure) {
  if (auto const* const error = dynamic_cast<Error const*>(&failure)) {
    return {error->what(), error->kind() == ErrorKind::bad_argument ? exit_bad_options : exit_device};
  }
  if (auto const* const json = dynamic_cast<nlohmann::json::exception const*>(&failure))
    return {unreadable_results(*json)};
  return {failure_text(failure)};
}

Interrupt::Interrupt(StandardOutput& output)
    : output_(output),
      watched_(to_watch()),
      signals_(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK)),
      done_(eventfd(0, EFD_CLOEXEC)) {
  if (signals_ < 0 || done_ < 0) {
    throw Error(ErrorKind::system, std::string("Signals cannot be listened to: ") + std::strerror(errno) +
                                       ". See how many files the process may open (ulimit -n).");
  }
  pthread_sigmask(SIG_BLOCK, &watched_, nullptr);
  watcher_ = std::jthread([this] { watch(); });
}

Interrupt::~Interrupt() {
  static_cast<void>(eventfd_write(done_, 1));
  watcher_.join();
  close(done_);
  close(signals_);
}

void Interrupt::watch() {
  pthread_setname_np(pthread_self(), "ps-signals");
  constexpr nfds_t output = 2;
  // That a pipe has lost its reader is told without being asked for; of a file nothing is.
  std::array<pollfd, 3> all{pollfd{signals_, POLLIN, 0}, pollfd{done_, POLLIN, 0}, pollfd{output_.descriptor(), 0, 0}};
  for (;;) {
    if (poll(all.data(), all.size(), -1) < 0) continue;
    if (all[1].revents != 0) return;
    if (all[output].revents != 0) {
      if (!output_.probe()) stop_.request_stop();
      all[output].fd = -1;
    }
    signalfd_siginfo signal{};
    while (read(signals_, &signal, sizeof signal) == sizeof signal) take(static_cast<int>(signal.ssi_signo));
  }
}

void Interrupt::take(int signal) {
  bool const asks = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  if (asks) output_.hurry();
  if (asks && stop_.request_stop()) return;
  output_.close_between_lines();
  if (asks) _exit(exit_interrupted);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  std::raise(signal);
}

}  // namespace penstock::cli
