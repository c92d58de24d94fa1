// SPDX-License-Identifier: Apache-2.0
// The program penstock_lease_worker, which tests tell what to do, and kill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/core/descriptor.hpp"

namespace penstock::support {

/// One process of that program. It is killed when this dies.
class WorkerProcess {
 public:
  /// Shape: `arguments` are those behind the program's name.
  explicit WorkerProcess(std::vector<std::string> const& arguments);
  WorkerProcess(WorkerProcess const&) = delete;
  WorkerProcess& operator=(WorkerProcess const&) = delete;
  ~WorkerProcess();

  pid_t id() const noexcept { return process_; }
  void tell(std::string const& line) const;
  /// Waits for a line of it.
  std::string hear() const;
  /// Sends it a line, and waits for the one that it answers.
  std::string ask(std::string const& line) const {
    tell(line);
    return hear();
  }
  /// Waits until it ends by itself: its exit code, or the negative number of the signal that ended it.
  int wait();
  /// Ends it by this signal, and waits for that.
  void kill(int signal);
  /// Sends it a signal.
  void send(int signal) const;
  /// Stops it by SIGSTOP. Returns once it does nothing any more.
  void stop() const;

 private:
  pid_t process_ = -1;
  Descriptor to_it_;
  Descriptor from_it_;
};

/// The numbers in a line, behind its first word.
std::vector<std::uint64_t> numbers_in(std::string const& line);

}  // namespace penstock::support
