// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "programs/command/run_program.hpp"

namespace penstock::cli {

/// A program that is run several times from its start to its end.
struct WholeProgram {
  std::vector<std::string> arguments = {};  ///< [0] is its path, with a slash in it.
  std::vector<std::string> results = {};    ///< Files and folders that it writes.
  std::string input = {};                   ///< The file for its standard input; empty: its standard input is empty.
};

/// A file, or all files below a folder, after a run.
struct ResultSum {
  bool written = false;     ///< The run wrote it.
  std::uint64_t files = 0;  ///< 0 if it does not exist.
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;  ///< A checksum of the names and bytes.
};

/// One run of a program.
struct WholeRun {
  ProgramEnd end;
  std::vector<ResultSum> results;  ///< Sums in the order of WholeProgram::results.
};

/// Runs a program once, with these variables added to our environment.
///
/// Blocks: until the program has ended, at most for `longest` and some seconds.
/// Throws: Error, if the program cannot be started, or its input or a result cannot be read.
WholeRun run_once(WholeProgram const& program, std::vector<std::pair<std::string, std::string>> const& environment,
                  std::chrono::nanoseconds longest, std::stop_token const& stop);

}  // namespace penstock::cli
