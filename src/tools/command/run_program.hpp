// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::cli {

/// What a program wrote to one descriptor: all of it as a sum, and its begin as text.
class Heard {
 public:
  explicit Heard(std::size_t keep = std::numeric_limits<std::size_t>::max()) : keep_(keep) {}

  void add(std::string_view piece);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Of all bytes; it does not depend on how they were cut into pieces.
  std::uint64_t sum() const noexcept { return sum_; }
  /// The first bytes, as many as were to be kept.
  std::string const& begin() const noexcept { return begin_; }
  std::string& begin() noexcept { return begin_; }
  /// Two that are alike were the same bytes.
  friend bool alike(Heard const& one, Heard const& other) noexcept {
    return one.bytes_ == other.bytes_ && one.sum_ == other.sum_;
  }

 private:
  std::size_t keep_;
  std::uint64_t bytes_ = 0;
  std::uint64_t sum_ = 0xcbf29ce484222325;
  std::string begin_;
};

/// A program to run, and how.
struct ProgramRun {
  std::vector<std::string> arguments = {};  ///< [0] is its path, with a slash in it.
  /// Variables that are set for it, and for the processes that it starts; all others are ours.
  std::vector<std::pair<std::string, std::string>> environment = {};
  int input = -1;                                              ///< Its standard input; -1: it is empty.
  int output = -1;                                             ///< Where its standard output goes; -1: it is heard.
  int complaint = -1;                                          ///< Likewise, its standard error.
  std::size_t keep = std::numeric_limits<std::size_t>::max();  ///< Bytes of each that are kept as text.
  std::chrono::nanoseconds longest = std::chrono::nanoseconds::max();  ///< Then it is ended.
  /// Between SIGTERM, by which it is asked to end, and SIGKILL.
  std::chrono::nanoseconds grace = std::chrono::seconds(5);
  bool all_end = true;  ///< Processes that it leaves behind are ended; false: they are none of ours.
};

/// What became of it.
struct ProgramEnd {
  int code = 0;                      ///< Its exit code; 128 and the signal's number, if a signal ended it.
  int signal = 0;                    ///< 0, if it ended by itself.
  bool overtime = false;             ///< It was ended, because it ran longer than it may.
  unsigned left = 0;                 ///< Processes that it left behind, which were ended.
  std::chrono::nanoseconds wall{0};  ///< From its start to its end.
  std::chrono::nanoseconds cpu{0};   ///< Of it, and of the processes that it started and that ended before it.
  Heard output = Heard();
  Heard complaint = Heard();
};

/// Runs a program to its end, and all that it started. Once `stop` is requested, or its time is up, it gets a SIGTERM,
/// and later a SIGKILL; if this process dies, it is killed.
///
/// Threads: one at a time, with no other child of this process: orphans of the program become children of this one.
/// Blocks:  until it has ended.
/// Throws:  Error of kind system, if it cannot be started, with its name and what the system says.
ProgramEnd run_program(ProgramRun const& run, std::stop_token const& stop = {});

}  // namespace penstock::cli
