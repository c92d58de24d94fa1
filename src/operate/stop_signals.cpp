// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/own_process.hpp"
#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

constexpr std::array asks_to_end{SIGINT, SIGTERM, SIGHUP};
constexpr std::array kills{SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/// The signals of both lists that have the system's own action: neither ignored, nor taken by a profiler, say.
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

/// The thread that listens, and what it listens to.
class StopSignals::Watcher {
 public:
  Watcher(StopSignalsOptions options, std::stop_source stop)
      : options_(std::move(options)),
        stop_(std::move(stop)),
        watched_(to_watch()),
        signals_(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK)),
        done_(eventfd(0, EFD_CLOEXEC)) {
    std::string problem = signals_.number < 0 || done_.number < 0 ? std::strerror(errno) : "";
    if (problem.empty()) {
      sigset_t before;
      pthread_sigmask(SIG_BLOCK, &watched_, &before);
      try {
        thread_ = std::thread([this] { watch(); });
        return;
      } catch (std::exception const& exception) {
        problem = exception.what();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
      }
    }
    throw Error(
        ErrorKind::system,
        "Signals cannot be listened to: " + problem +
            ". See how many files the process may open (ulimit -n) and how many threads it may have (ulimit -u).");
  }
  Watcher(Watcher const&) = delete;
  Watcher& operator=(Watcher const&) = delete;
  ~Watcher() {
    static_cast<void>(eventfd_write(done_.number, 1));
    thread_.join();
  }

  OwnProcess const process;

 private:
  void watch();
  void take(int signal);

  StopSignalsOptions const options_;
  std::stop_source stop_;
  sigset_t const watched_;
  Descriptor const signals_;  ///< Signals are read from it.
  Descriptor const done_;     ///< Readable once the thread is to end.
  std::thread thread_;
};

void StopSignals::Watcher::watch() {
  pthread_setname_np(pthread_self(), "ps-signals");
  constexpr nfds_t output = 2;
  // poll reports unasked that a pipe has lost its reader; of a file it reports nothing.
  std::array<pollfd, 3> all{pollfd{signals_.number, POLLIN, 0}, pollfd{done_.number, POLLIN, 0},
                            pollfd{options_.output, 0, 0}};
  for (;;) {
    if (poll(all.data(), all.size(), -1) < 0) continue;
    if (all[1].revents != 0) return;
    if (all[output].revents != 0) {
      if (!options_.output_is_lost || options_.output_is_lost()) stop_.request_stop();
      all[output].fd = -1;
    }
    signalfd_siginfo signal{};
    while (read(signals_.number, &signal, sizeof signal) == sizeof signal) take(static_cast<int>(signal.ssi_signo));
  }
}

void StopSignals::Watcher::take(int signal) {
  if (signal == SIGHUP && options_.hung_up && options_.hung_up()) return;
  bool const asks = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  if (asks && options_.asked) options_.asked();
  if (asks && stop_.request_stop()) return;
  if (options_.ending) options_.ending();
  if (asks) _exit(options_.exit_code);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  std::raise(signal);
}

StopSignals::StopSignals(StopSignalsOptions options) : watcher_(std::make_unique<Watcher>(std::move(options), stop_)) {}

StopSignals::~StopSignals() {
  left_to_parent(watcher_);
}

}  // namespace penstock
