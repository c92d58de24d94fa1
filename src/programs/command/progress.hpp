// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/core/descriptor.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

/// Columns of the terminal on standard error, or on that descriptor; 80 if it does not say.
unsigned terminal_width(int terminal = 2);
/// "1:05", "2:00:00".
std::string clock_text(double seconds);
/// A bar that is full to that part, 0 to 1, and the words behind it; no bar if there is no part or no room for it. One
/// column stays free, so that no terminal wraps.
std::string bar_line(std::optional<double> part, std::string const& words, unsigned width);

/// One line with a bar: bytes, GB/s, time left. `width` is the terminal's.
std::string progress_line(std::uint64_t done, std::optional<std::uint64_t> total, std::chrono::duration<double> elapsed,
                          unsigned width);

/// A line of standard error that is redrawn in place, if that is a terminal.
///
/// Threads: one at a time.
class TerminalLine {
 public:
  /// If `wanted` is false it draws nothing, as on a standard error that is no terminal. The file `on`, if named, takes
  /// the place of standard error.
  explicit TerminalLine(bool wanted, std::string const& on = "");

  bool drawn() const noexcept { return drawn_; }
  void draw(std::string const& line) const;
  void wipe() const;
  unsigned width() const { return terminal_width(terminal()); }

 private:
  int terminal() const noexcept { return other_.number >= 0 ? other_.number : 2; }

  Descriptor const other_;
  bool const drawn_;
};

/// Draws that line on standard error ten times a second, if that is a terminal, and wipes it at the end.
///
/// Threads: `add`, `set_total`, `print` and `complain` any.
class Progress {
 public:
  /// `wanted`: as TerminalLine.
  explicit Progress(bool wanted);
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  ~Progress();

  bool drawn() const noexcept { return line_.drawn(); }
  void add(std::uint64_t bytes) noexcept { done_.fetch_add(bytes, std::memory_order_relaxed); }
  /// The line has no bar and no time left until the total is known.
  void set_total(std::uint64_t bytes) noexcept {
    total_.store(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
  /// Writes lines to standard output, without the bar in between. Returns: as StandardOutput::write.
  bool print(StandardOutput& to, std::string_view lines);
  /// Writes lines to standard error likewise.
  void complain(std::string const& lines);

 private:
  void draw(std::stop_token const& stop);

  TerminalLine const line_;
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> total_{-1};
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

/// One line with a bar: the runs done and in total, the time left, and the next step.
std::string runs_line(std::size_t done, std::size_t total, std::chrono::duration<double> elapsed,
                      std::string const& now, unsigned width);

/// Progress of the process that started this one to do a part of its runs, and the terminal where it draws its line.
struct ProgressBegun {
  std::string on;
  std::size_t done = 0;
  std::size_t total = 0;  ///< 0: there is no such process.
  std::chrono::milliseconds elapsed{0};

  /// Throws: Error of kind bad_argument, unless it is from `option`.
  static ProgressBegun from(std::string const& text);
  std::string option() const;
};

/// Draws that line, or another, at each call; wipes it at the end.
///
/// Threads: one.
class RunProgress {
 public:
  /// `wanted`: as TerminalLine.
  explicit RunProgress(bool wanted, ProgressBegun begun = {})
      : begun_(std::move(begun)), line_(std::in_place, wanted, begun_.on) {}
  RunProgress(RunProgress const&) = delete;
  RunProgress& operator=(RunProgress const&) = delete;
  ~RunProgress() { end(); }
  void show(std::size_t done, std::size_t total, std::string const& now);
  /// The progress for a process that does the next of the runs; empty if nothing is drawn.
  std::optional<ProgressBegun> handed_on(std::size_t done, std::size_t total) const;
  /// Draws another line in its place.
  void draw(std::string const& line);
  /// Wipes the line before the end.
  void end();

 private:
  std::chrono::nanoseconds elapsed() const { return begun_.elapsed + (std::chrono::steady_clock::now() - start_); }

  ProgressBegun const begun_;
  std::optional<TerminalLine> line_;  ///< Empty once it has ended.
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
};

}  // namespace penstock::cli
