// SPDX-License-Identifier: Apache-2.0
#include "tools/command/run_progress.hpp"

#include <cstdio>
#include <optional>
#include <utility>

#include <unistd.h>

#include "tools/command/bar.hpp"

namespace penstock::cli {

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

RunProgress::RunProgress(bool wanted) : drawn_(wanted && isatty(STDERR_FILENO) == 1) {}

RunProgress::~RunProgress() {
  end();
}

void RunProgress::end() {
  if (std::exchange(drawn_, false)) wipe_line();
}

void RunProgress::show(std::size_t done, std::size_t total, std::string const& now) {
  if (drawn_) draw(runs_line(done, total, std::chrono::steady_clock::now() - start_, now, terminal_width()));
}

void RunProgress::draw(std::string const& line) {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
}

}  // namespace penstock::cli
