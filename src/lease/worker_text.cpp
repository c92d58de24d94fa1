// SPDX-License-Identifier: Apache-2.0
#include "lease/worker_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "engine/core/number_text.hpp"

namespace penstock {

std::string in_seconds(std::chrono::nanoseconds time) {
  return seconds_text(std::chrono::duration<double>(time).count());
}

std::string end_text(int end) {
  if (end >= 0) return "ended with code " + std::to_string(end);
  char const* const name = sigdescr_np(-end);
  return "was ended by signal " + std::to_string(-end) + (name != nullptr ? " (" + std::string(name) + ")" : "");
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = write(to, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
  }
  return true;
}

std::string behind_place(unsigned place, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    std::size_t const length = std::min(lines.find('\n'), lines.size() - 1) + 1;
    text.append("worker ").append(std::to_string(place)).append(": ").append(lines.substr(0, length));
    lines.remove_prefix(length);
  }
  return text;
}

void complain_of(unsigned place, std::string_view lines) {
  write_all(STDERR_FILENO, behind_place(place, lines));
}

}  // namespace penstock
