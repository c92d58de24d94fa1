// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "tools/command/standard_output.hpp"

namespace penstock::cli {

/// One line with a bar: bytes, GB/s, time left. `width` is the terminal's.
std::string progress_line(std::uint64_t done, std::optional<std::uint64_t> total, std::chrono::duration<double> elapsed,
                          unsigned width);

/// Draws that line on standard error ten times a second, if that is a terminal, and wipes it at the end.
///
/// Threads: `add`, `set_total`, `print` and `complain` any.
class Progress {
 public:
  /// `wanted` false: draws nothing, like where standard error is no terminal.
  explicit Progress(bool wanted);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  ~Progress();

  bool drawn() const noexcept { return drawn_; }
  void add(std::uint64_t bytes) noexcept { done_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Until it is known, the line has no bar and no time left.
  void set_total(std::uint64_t bytes) noexcept {
    total_.store(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
  /// Writes lines to standard output, without the bar in between. Returns: as StandardOutput::write.
  bool print(StandardOutput& to, std::string_view lines);
  /// Writes lines to standard error likewise.
  void complain(std::string const& lines);

 private:
  void draw(std::stop_token const& stop);
  void wipe() const;

  bool const drawn_;
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> total_{-1};
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

}  // namespace penstock::cli
