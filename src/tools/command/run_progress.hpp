// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace penstock::cli {

/// One line with a bar: how many runs of how many, the time left, and what is next.
std::string runs_line(std::size_t done, std::size_t total, std::chrono::duration<double> elapsed,
                      std::string const& now, unsigned width);

/// Draws that line on standard error, if that is a terminal, whenever it is told; wipes it at the end.
///
/// Threads: one.
class RunProgress {
 public:
  explicit RunProgress(bool wanted);
  RunProgress(RunProgress const&) = delete;
  RunProgress& operator=(RunProgress const&) = delete;
  ~RunProgress();
  void show(std::size_t done, std::size_t total, std::string const& now);
  /// Another line in its place.
  void draw(std::string const& line);
  /// Wipes it already.
  void end();

 private:
  bool drawn_;
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
};

}  // namespace penstock::cli
