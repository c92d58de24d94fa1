// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <sys/types.h>

namespace penstock::cli {

/// The processes below this one: its children, their children, and so on.
std::vector<pid_t> descendants();

/// Makes orphans of our children our children while it lives, so that they can be found and ended.
///
/// Threads: one at a time in a process.
class Subreaper {
 public:
  /// Does nothing if `wanted` is false.
  explicit Subreaper(bool wanted = true);
  Subreaper(Subreaper const&) = delete;
  Subreaper& operator=(Subreaper const&) = delete;
  ~Subreaper();

  /// Kills all processes below this one, also those that start meanwhile.
  ///
  /// Blocks:  until the last of them has ended.
  /// Returns: how many it killed.
  unsigned end_all() const;

 private:
  bool const wanted_;
};

}  // namespace penstock::cli
