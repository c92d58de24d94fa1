// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and its kind as a stop token, for programs that end well.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

namespace penstock {

/// What else a program does when it is asked to end.
///
/// Threads: the functions are called on a thread of StopSignals; they must not throw.
struct StopSignalsOptions {
  /// A descriptor that the program writes to, to the end: if its reader has gone, that is a stop request, too. -1:
  /// none.
  int output = -1;
  /// Says whether that output is lost. Called once, when the system says so; empty: it is.
  std::function<bool()> output_is_lost = {};
  /// Called for each signal that asks to end, before the stop is requested.
  std::function<void()> asked = {};
  /// Called before a signal ends the process at once.
  std::function<void()> ending = {};
  /// What the process exits with if it is asked to end a second time.
  int exit_code = 130;
};

/// Turns ctrl-C (SIGINT), SIGTERM and SIGHUP into a stop request, instead of the process's death: `run(source, stage,
/// sink, signals.token())` then completes what is on the devices and cancels the rest. A second one ends the process at
/// once, by `_exit`; any other signal to end it, as SIGQUIT, does so at once, in its own way.
///
/// A signal that is ignored when this is made stays ignored, as nohup has it of SIGHUP and shells of SIGINT, for what
/// they start behind themselves; so does one that has a handler.
///
/// Make it in `main` before any other thread, so that they all leave the signals to it, and no second one. When it dies
/// the signals stay blocked in the threads that there are.
/// Threads: the one that made it; `token`, `requested`, `request` any.
class StopSignals {
 public:
  /// Throws: Error of kind system, if the process may open no more files or start no more threads.
  explicit StopSignals(StopSignalsOptions options = {});
  StopSignals(StopSignals const&) = delete;
  StopSignals& operator=(StopSignals const&) = delete;
  ~StopSignals();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// Whether a stop was requested, by a signal, because the output has no reader, or by `request`.
  bool requested() const noexcept { return stop_.stop_requested(); }
  /// Requests it, as a signal would.
  void request() noexcept { stop_.request_stop(); }

 private:
  void watch();
  void take(int signal);

  StopSignalsOptions const options_;
  sigset_t watched_{};
  int signals_ = -1;  ///< A descriptor to read them from.
  int done_ = -1;     ///< Another, which can be read once it is to end.
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace penstock
