// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include "penstock/operate/operation.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

/// Exit codes of the process. docs/commands/README.md has the same table.
enum ExitCode : int {
  exit_ok = 0,
  exit_some_failed = 1,  ///< Some input could not be read or did not match, some experiment went otherwise, a
                         ///< point was not measured, a claim does not hold, tune found nothing within its memory; the
                         ///< rest was done.
  exit_bad_options = 2,  ///< Nothing was done.
  exit_device = 4,  ///< The device or the machine could not do it: no such GPU, too little memory, a fault; also of one
                    ///< among several devices, though the others did the rest.
  exit_interrupted = 130  ///< Ctrl-C, SIGTERM, SIGHUP: what was under way was finished or cancelled, nothing is left.
};

/// Meaning of a code, in the words of --help and of the manual. A command has words of its own for exit_some_failed.
struct ExitMeaning {
  ExitCode code;
  char const* words;
};
inline constexpr ExitMeaning exit_meanings[] = {
    {exit_ok, "all well"},
    {exit_some_failed, "something failed, does not match or is missing from the results; the rest was done"},
    {exit_bad_options, "bad options; nothing was done"},
    {exit_device, "the device or the machine could not do it"},
    {exit_interrupted, "interrupted"}};

/// Message on a failure, and the exit code that the process ends with.
struct Complaint {
  std::string sentence;  ///< Describes the failure, and what helps.
  ExitCode code = exit_device;
};

/// A sentence on results of another process that cannot be read, and what to do; `problem` is the parser's exception.
std::string unreadable_results(std::exception const& problem);

/// The sentence of an Error. For other exceptions of the standard library, the system or a parser, a sentence that says
/// what was wanted and what to do.
Complaint complaint_about(std::exception const& failure);

/// Turns ctrl-C (SIGINT), SIGTERM and SIGHUP into a stop request, as StopSignals does, with exit code 130 for a second
/// one. A signal that ends the process at once ends it between two lines of the output. The loss of the output's reader
/// is a stop request, too.
///
/// Make it before any other thread, so that all threads leave the signals to it.
/// Threads: the one that made it; `token` and `requested` any.
class Interrupt {
 public:
  /// `output` outlives it.
  explicit Interrupt(StandardOutput& output);

  std::stop_token token() const noexcept { return signals_.token(); }
  /// True if a stop was requested, by a signal or because the output has no reader.
  bool requested() const noexcept { return signals_.requested(); }
  /// Makes SIGHUP call this instead of requesting a stop; an empty function ends that.
  ///
  /// Threads: any. Blocks: while it is called.
  void on_hang_up(std::function<void()> reopen) const;

 private:
  bool hung_up() const;

  mutable std::mutex mutex_;
  mutable std::function<void()> reopen_;
  StopSignals signals_;
};

}  // namespace penstock::cli
