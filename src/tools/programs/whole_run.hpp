// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tools/command/run_program.hpp"

namespace penstock::cli {

/// A program as a whole, which is run several times.
struct WholeProgram {
  std::vector<std::string> arguments = {};  ///< [0] is its path, with a slash in it.
  std::vector<std::string> results = {};    ///< Files and folders that it writes.
  std::string input = {};                   ///< A file that it reads as its standard input; empty: it has none.
};

/// A file, or all files below a folder, after a run.
struct ResultSum {
  bool written = false;  ///< Since before the run.
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;  ///< Of names and bytes.
};

/// One run of it.
struct WholeRun {
  ProgramEnd end;
  std::vector<ResultSum> results;  ///< In the order of WholeProgram::results.
};

/// Runs it once, with these variables set beside ours.
///
/// Blocks: until it has ended, for `longest` at most and some seconds more.
/// Throws: Error, if it cannot be started, or its input or a result cannot be read.
WholeRun run_once(WholeProgram const& program, std::vector<std::pair<std::string, std::string>> const& environment,
                  std::chrono::nanoseconds longest, std::stop_token const& stop);

}  // namespace penstock::cli
