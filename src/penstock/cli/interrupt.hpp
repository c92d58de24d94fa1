// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>

namespace penstock::cli {

/// Turns ctrl-C (SIGINT) and SIGTERM into a stop request, instead of the process's death. A second one ends the process
/// at once, with exit code 130.
///
/// Make it before any other thread, so that they all leave the signal to it.
/// Threads: the one that made it; `token` and `requested` any.
class Interrupt {
 public:
  Interrupt();
  Interrupt(Interrupt const&) = delete;
  Interrupt& operator=(Interrupt const&) = delete;
  ~Interrupt();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  bool requested() const noexcept { return stop_.stop_requested(); }

 private:
  void watch(std::stop_token const& done);

  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace penstock::cli
