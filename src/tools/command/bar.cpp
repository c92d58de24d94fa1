// SPDX-License-Identifier: Apache-2.0
#include "tools/command/bar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace penstock::cli {

unsigned terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
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

void wipe_line() {
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace penstock::cli
