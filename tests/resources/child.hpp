// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace penstock::sweep {

/// A limit of the system's on one process.
struct Limit {
  int resource = 0;  ///< Number for setrlimit.
  std::uint64_t most = 0;
};

/// A program to start, and what it is refused.
struct Order {
  std::vector<std::string> words = {};        ///< The program's path first.
  std::string folder = {};                    ///< It works there.
  std::string preload = {};                   ///< A library, or nothing.
  std::vector<std::string> environment = {};  ///< NAME=VALUE, beside what this process has.
  std::vector<Limit> limits = {};
  std::optional<unsigned> user = {};  ///< It runs as this user, without rights.
};

/// End of a program.
struct Ended {
  bool hung = false;             ///< It did not end in time and was killed.
  int signal = 0;                ///< Signal that killed it; 0 for none.
  std::optional<int> code = {};  ///< Its exit code.
  std::string out = {};
  std::string err = {};
  std::string report = {};  ///< Report of the library that is preloaded.
  std::chrono::milliseconds took{0};
};

/// Runs it to its end, or kills it and all that it started once `patience` is over.
///
/// Blocks: that long at most.
/// Throws: std::system_error, if it cannot be started at all.
Ended run_child(Order const& order, std::chrono::seconds patience);

/// Returns the order as a line for a shell, which does the same.
std::string shell_line(Order const& order);

}  // namespace penstock::sweep
