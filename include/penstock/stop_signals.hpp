// SPDX-License-Identifier: Apache-2.0
// Signals that ask a program to end, as a stop token.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

namespace penstock {

/// Actions of a program in addition to the stop request.
///
/// Threads: the functions are called on a thread of StopSignals. They must not throw.
struct StopSignalsOptions {
  /// A descriptor that the program writes its output to. A stop is also requested if this is a pipe or socket that no
  /// process reads any more. It must stay open as long as the StopSignals. -1: no descriptor.
  int output = -1;
  /// Returns whether the output is really lost. It is called once, when the system reports that no process reads
  /// `output`. Empty: the output is lost.
  std::function<bool()> output_is_lost = {};
  /// Called for each SIGINT, SIGTERM and SIGHUP, before the stop is requested.
  std::function<void()> asked = {};
  /// Called for each SIGHUP: reopens files, for instance, and returns true. Signals wait until it returns. If it
  /// returns false, or is empty, SIGHUP requests a stop.
  std::function<bool()> hung_up = {};
  /// Called before a signal ends the process.
  std::function<void()> ending = {};
  /// The exit code if a signal comes after the stop was requested.
  int exit_code = 130;
};

/// Turns ctrl-C (SIGINT), SIGTERM and, unless `hung_up` takes it, SIGHUP into a stop request: `run(source, stage, sink,
/// signals.token())` then completes the work on the devices and cancels the rest. If one of them comes when the stop is
/// requested already, the process ends at once, by `_exit`. SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM and SIGXCPU end the
/// process at once, as they do by default.
///
/// A signal that is ignored or has a handler when this object is made is left as it is. nohup, for example, has SIGHUP
/// ignored, and shells have SIGINT ignored in background jobs.
///
/// Make one object, in `main`, before any other thread starts: threads inherit that these signals are blocked. After
/// the destructor the signals stay blocked in the threads of the process.
///
/// Threads: the one that made it; `token`, `requested` and `request`: any.
class StopSignals {
 public:
  /// Throws: Error of kind system, if the process can open no more descriptors or start no more threads.
  explicit StopSignals(StopSignalsOptions options = {});
  StopSignals(StopSignals const&) = delete;
  StopSignals& operator=(StopSignals const&) = delete;
  ~StopSignals();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// True once a stop was requested: by a signal, by the loss of the output, or by `request`.
  bool requested() const noexcept { return stop_.stop_requested(); }
  /// Requests a stop. A signal after it ends the process.
  void request() noexcept { stop_.request_stop(); }

 private:
  void watch();
  void take(int signal);

  StopSignalsOptions const options_;
  sigset_t watched_{};
  int signals_ = -1;  ///< A descriptor from which signals are read.
  int done_ = -1;     ///< A descriptor that is readable once the watching thread is to end.
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace penstock
