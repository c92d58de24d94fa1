// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include <unistd.h>

namespace penstock::cli {

/// Standard output, for whole lines that the system gets at once and never in part.
///
/// While one exists, a reader that has gone is an error like any other and not a signal, unless a broken pipe is to end
/// the program.
///
/// Threads: any.
class StandardOutput {
 public:
  explicit StandardOutput(int descriptor = STDOUT_FILENO);
  StandardOutput(StandardOutput const&) = delete;
  StandardOutput& operator=(StandardOutput const&) = delete;
  ~StandardOutput();

  /// Writes lines, each of which ends with a line break.
  ///
  /// Blocks: while the reader takes nothing; for a second at most once there is a hurry.
  /// Returns: false, from the first failure on, after which nothing is written any more.
  bool write(std::string_view lines);
  bool failed() const noexcept { return problem_.load() != 0; }
  /// Checks if it can be written, as far as the system knows that without a write.
  ///
  /// Returns: false, if it is not open for writing, or its reader has gone; it has then failed.
  bool probe();
  /// Stops waiting, from now on, for a reader that takes nothing for a second.
  void hurry() noexcept { hurry_ = true; }
  /// True if it failed since `hurry` was called.
  bool given_up() const noexcept;
  /// A sentence on why it failed.
  std::string complaint() const;
  /// Lets no thread write any more, so that the process may end at any moment with no line torn. A write that does not
  /// end within a second is not waited for: a pipe has then taken none of it, or its reader has stopped reading.
  void close_between_lines();
  int descriptor() const noexcept { return descriptor_; }

 private:
  bool write_whole(std::string_view lines);
  bool has_room() const;
  void take_back(std::size_t bytes) const;
  void fail(int problem);

  int const descriptor_;
  bool const regular_;  ///< True for a regular file, which always has room.
  bool const dies_of_broken_pipe_;
  std::atomic<bool> hurry_{false};
  std::mutex mutex_;
  std::atomic<int> problem_{0};  ///< The errno of the first failure.
};

}  // namespace penstock::cli
