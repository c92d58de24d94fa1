// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

#include "tools/command/standard_output.hpp"

namespace penstock::cli {

/// Turns ctrl-C (SIGINT), SIGTERM and SIGHUP into a stop request, instead of the process's death. A second one ends the
/// process at once, with exit code 130; any other signal to end it, as SIGQUIT, does so at once, in its own way. Both
/// end it between two lines of the output. If the reader of the output has gone, that is a stop request, too.
///
/// A signal that is ignored when it is made stays ignored, as nohup has it of SIGHUP and shells of SIGINT, for what
/// they start behind themselves.
///
/// Make it before any other thread, so that they all leave the signals to it.
/// Threads: the one that made it; `token` and `requested` any.
class Interrupt {
 public:
  explicit Interrupt(StandardOutput& output);
  Interrupt(Interrupt const&) = delete;
  Interrupt& operator=(Interrupt const&) = delete;
  ~Interrupt();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// Whether a stop was requested, by a signal or because the output has no reader.
  bool requested() const noexcept { return stop_.stop_requested(); }

 private:
  void watch();
  void take(int signal);

  StandardOutput& output_;
  sigset_t watched_{};
  int signals_;  ///< A descriptor to read them from.
  int done_;     ///< Another, which can be read once it is to end.
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace penstock::cli
