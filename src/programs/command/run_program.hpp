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

#include "engine/core/fnv.hpp"

namespace penstock::cli {

/// Output of a program on one descriptor: a checksum of all of it, and its first bytes as text.
class Heard {
 public:
  explicit Heard(std::size_t keep = std::numeric_limits<std::size_t>::max()) : keep_(keep) {}

  void add(std::string_view piece);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// A checksum of all bytes: FNV-1a, 64 bits. It does not depend on how they were cut into pieces.
  std::uint64_t sum() const noexcept { return sum_; }
  /// The first bytes, at most `keep`.
  std::string const& begin() const noexcept { return begin_; }
  std::string& begin() noexcept { return begin_; }
  /// True if both have the same length and checksum.
  friend bool alike(Heard const& one, Heard const& other) noexcept {
    return one.bytes_ == other.bytes_ && one.sum_ == other.sum_;
  }

 private:
  std::size_t keep_;
  std::uint64_t bytes_ = 0;
  std::uint64_t sum_ = fnv_of_nothing;
  std::string begin_;
};

/// A program to run, and options for the run.
struct ProgramRun {
  std::vector<std::string> arguments = {};  ///< [0] is its path, with a slash in it.
  /// Environment variables that are added to ours, or replace them.
  std::vector<std::pair<std::string, std::string>> environment = {};
  int input = -1;      ///< A descriptor for its standard input; -1: its standard input is empty.
  int output = -1;     ///< A descriptor for its standard output; -1: it goes to ProgramEnd::output.
  int complaint = -1;  ///< A descriptor for its standard error; -1: it goes to ProgramEnd::complaint.
  std::size_t keep = std::numeric_limits<std::size_t>::max();          ///< Bytes of each output that are kept as text.
  std::chrono::nanoseconds longest = std::chrono::nanoseconds::max();  ///< The program is ended after this time.
  std::chrono::nanoseconds grace = std::chrono::seconds(5);            ///< Time from SIGTERM to SIGKILL.
  bool all_end = true;  ///< True: processes that it leaves behind are ended. False: they continue.
};

/// The end of a program, and its output.
struct ProgramEnd {
  int code = 0;                      ///< Its exit code; 128 plus the number of the signal, if a signal ended it.
  int signal = 0;                    ///< The signal that ended it, or 0.
  bool overtime = false;             ///< It was ended because it ran longer than ProgramRun::longest.
  unsigned left = 0;                 ///< Number of processes that it left behind and that were ended.
  std::chrono::nanoseconds wall{0};  ///< Time from its start to its end.
  std::chrono::nanoseconds cpu{0};   ///< CPU time of it, and of its child processes that it has waited for.
  Heard output = Heard();
  Heard complaint = Heard();
};

/// Runs a program to its end. When `stop` is requested or its time is over, the program gets SIGTERM, and after
/// `grace` it and all of its descendants get SIGKILL. If this process dies, the program is killed.
///
/// Threads: one at a time. This process must have no other children: orphans of the program become children of it.
/// Blocks:  until the program has ended.
/// Throws:  Error of kind system, if the program cannot be started, with its name and the error of the system.
ProgramEnd run_program(ProgramRun const& run, std::stop_token const& stop = {});

}  // namespace penstock::cli
