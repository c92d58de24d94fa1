// SPDX-License-Identifier: Apache-2.0
#include "tools/command/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "penstock/core/size_text.hpp"
#include "tools/command/bar.hpp"

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;

}  // namespace

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

Progress::Progress(bool wanted) : drawn_(wanted && isatty(STDERR_FILENO) == 1) {
  if (drawn_) thread_ = std::jthread([this](std::stop_token const& stop) { draw(stop); });
}

Progress::~Progress() {
  if (!drawn_) return;
  thread_.request_stop();
  thread_.join();
  wipe();
}

void Progress::draw(std::stop_token const& stop) {
  pthread_setname_np(pthread_self(), "ps-progress");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    auto const total = total_.load(std::memory_order_relaxed);
    std::string const line = progress_line(done_.load(std::memory_order_relaxed),
                                           total < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(total)),
                                           std::chrono::steady_clock::now() - start_, terminal_width());
    std::fprintf(stderr, "\r%s\033[K", line.c_str());
    std::fflush(stderr);
    ended_.wait_for(lock, stop, 100ms, [] { return false; });
  }
}

void Progress::wipe() const {
  if (drawn_) wipe_line();
}

bool Progress::print(StandardOutput& to, std::string_view lines) {
  if (!drawn_) return to.write(lines);
  std::scoped_lock const lock(mutex_);
  wipe();
  return to.write(lines);
}

void Progress::complain(std::string const& lines) {
  std::scoped_lock const lock(mutex_);
  wipe();
  std::fputs(lines.c_str(), stderr);
}

}  // namespace penstock::cli
