// SPDX-License-Identifier: Apache-2.0
#include "programs/command/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {

unsigned terminal_width(int terminal) {
  winsize size{};
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
  auto const whole = static_cast<unsigned long>(std::lround(seconds));
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lu:%02lu", whole / 60, whole % 60);
  }
  return text;
}

std::string bar_line(std::optional<double> part, std::string const& words, unsigned width) {
  if (!part) return words.substr(0, width);
  // Two brackets, two blanks, and the column that stays free.
  std::size_t const room = width > words.size() + 5 ? std::min<std::size_t>(width - words.size() - 5, 40) : 0;
  if (room < 8) return words.substr(0, width);
  auto const full = static_cast<std::size_t>(std::clamp(*part, 0.0, 1.0) * static_cast<double>(room));
  std::string line = "[";
  line.append(full, '#').append(room - full, '.').append("]  ").append(words);
  return line;
}

std::string progress_line(std::uint64_t done, std::optional<std::uint64_t> total, std::chrono::duration<double> elapsed,
                          unsigned width) {
  double const rate = elapsed.count() > 0 ? static_cast<double>(done) / elapsed.count() : 0;
  char speed[32];
  std::snprintf(speed, sizeof speed, "%.2f GB/s", rate / 1e9);
  std::string const figures = size_text(done) + (total ? " of " + size_text(*total) : "") + "  " + speed;
  if (!total || *total == 0) return bar_line(std::nullopt, figures, width);
  double const part = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
  std::string const left =
      rate > 0 ? "  " + clock_text(static_cast<double>(*total - std::min(done, *total)) / rate) + " left" : "";
  return bar_line(part, figures + left, width);
}

TerminalLine::TerminalLine(bool wanted, std::string const& on)
    : other_(wanted && !on.empty() ? open(on.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC) : -1),
      drawn_(wanted && (on.empty() || other_.number >= 0) && isatty(terminal()) == 1) {}

void TerminalLine::draw(std::string const& line) const {
  if (!drawn_) return;
  dprintf(terminal(), "\r%s\033[K", line.c_str());
}

void TerminalLine::wipe() const {
  if (!drawn_) return;
  dprintf(terminal(), "\r\033[K");
}

Progress::Progress(bool wanted) : line_(wanted) {
  if (drawn()) thread_ = std::jthread([this](std::stop_token const& stop) { draw(stop); });
}

Progress::~Progress() {
  if (!drawn()) return;
  thread_.request_stop();
  thread_.join();
  line_.wipe();
}

void Progress::draw(std::stop_token const& stop) {
  pthread_setname_np(pthread_self(), "ps-progress");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    auto const total = total_.load(std::memory_order_relaxed);
    line_.draw(progress_line(done_.load(std::memory_order_relaxed),
                             total < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(total)),
                             std::chrono::steady_clock::now() - start_, terminal_width()));
    ended_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
  }
}

bool Progress::print(StandardOutput& to, std::string_view lines) {
  if (!drawn()) return to.write(lines);
  std::scoped_lock const lock(mutex_);
  line_.wipe();
  return to.write(lines);
}

void Progress::complain(std::string const& lines) {
  std::scoped_lock const lock(mutex_);
  line_.wipe();
  std::fputs(lines.c_str(), stderr);
}

std::string runs_line(std::size_t done, std::size_t total, std::chrono::duration<double> elapsed,
                      std::string const& now, unsigned width) {
  std::string words = std::to_string(done) + " of " + std::to_string(total) + " runs";
  if (done > 0) {
    words +=
        "  " + clock_text(elapsed.count() / static_cast<double>(done) * static_cast<double>(total - done)) + " left";
  }
  if (!now.empty()) words += "  " + now;
  std::optional<double> part;
  if (total > 0) part = static_cast<double>(done) / static_cast<double>(total);
  return bar_line(part, words, width);
}

void RunProgress::end() {
  if (line_) line_->wipe();
  line_.reset();
}

ProgressBegun ProgressBegun::from(std::string const& text) {
  ProgressBegun begun;
  long milliseconds = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), "%zu,%zu,%ld,%n", &begun.done, &begun.total, &milliseconds, &length) != 3 ||
      length == 0) {
    throw Error(ErrorKind::bad_argument, "'" + text + "' does not say how far another process is.");
  }
  begun.elapsed = std::chrono::milliseconds(milliseconds);
  begun.on = text.substr(static_cast<std::size_t>(length));
  return begun;
}

std::string ProgressBegun::option() const {
  return std::to_string(done) + "," + std::to_string(total) + "," + std::to_string(elapsed.count()) + "," + on;
}

std::optional<ProgressBegun> RunProgress::handed_on(std::size_t done, std::size_t total) const {
  if (!line_ || !line_->drawn() || !begun_.on.empty()) return std::nullopt;
  return ProgressBegun{.on = "/proc/" + std::to_string(getpid()) + "/fd/2",
                       .done = done,
                       .total = total,
                       .elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed())};
}

void RunProgress::show(std::size_t done, std::size_t total, std::string const& now) {
  if (!line_ || !line_->drawn()) return;
  draw(runs_line(begun_.done + done, begun_.total > 0 ? begun_.total : total, elapsed(), now, line_->width()));
}

void RunProgress::draw(std::string const& line) {
  if (line_) line_->draw(line);
}

}  // namespace penstock::cli
