// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lease/worker_page.hpp"
#include <sys/types.h>

#include "engine/core/descriptor.hpp"

namespace penstock {

/// One process of a worker: its program in a process group of its own, with an empty standard input, pipes for what it
/// prints, and a page that it reports on. It is killed when this dies, or this process, or the thread that started it.
///
/// Threads: one at a time.
class SupervisedProcess {
 public:
  /// Shape:  command[0] is a path with a slash in it; variables of `environment` replace those of this process.
  /// Blocks: until the program has begun.
  /// Throws: Error of kind system, if it cannot be started.
  SupervisedProcess(std::vector<std::string> const& command,
                    std::vector<std::pair<std::string, std::string>> const& environment);
  SupervisedProcess(SupervisedProcess const&) = delete;
  SupervisedProcess& operator=(SupervisedProcess const&) = delete;
  ~SupervisedProcess();

  pid_t id() const noexcept { return id_; }
  /// Readable once the process has ended; -1 on a system that has no such descriptors.
  int ended() const noexcept { return ended_.number; }
  WorkerPage const& page() const noexcept { return *page_; }
  /// The pipe of standard output or of standard error, which is the caller's from now on.
  int take_output() noexcept { return std::exchange(output_.number, -1); }
  int take_complaint() noexcept { return std::exchange(complaint_.number, -1); }

  /// Looks if it has ended, which kills what is left of its group, or was stopped. Returns: once, what it ended with: a
  /// code, or the negative number of a signal.
  std::optional<int> look();
  /// True if it was stopped by a signal when `look` was called last.
  bool is_stopped() const noexcept { return stopped_; }
  /// Asks it to end.
  void ask_to_end() const noexcept;
  /// Kills it, and all of its process group.
  void kill() const noexcept;

 private:
  Descriptor memory_;
  WorkerPage* page_ = nullptr;
  Descriptor output_, complaint_, ended_;
  pid_t id_ = -1;
  bool stopped_ = false;
  bool reaped_ = false;
};

}  // namespace penstock
