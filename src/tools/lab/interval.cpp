// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace penstock::lab {

std::chrono::nanoseconds together(Interval const& one, Interval const& other) {
  return std::min(one.end, other.end) - std::max(one.start, other.start);
}

bool before(Interval const& first, Interval const& second) {
  return first.end <= second.start;
}

void start_at_zero(std::span<Interval> intervals) {
  auto first = std::chrono::nanoseconds::max();
  for (Interval const& interval : intervals) first = std::min(first, interval.start);
  for (Interval& interval : intervals) {
    interval.start -= first;
    interval.end -= first;
  }
}

std::string time_text(std::chrono::nanoseconds time) {
  double const microseconds = static_cast<double>(time.count()) / 1e3;
  double const size = std::abs(microseconds);
  double value = microseconds;
  char const* unit = "us";
  if (size >= 1e6) {
    value /= 1e6;
    unit = "s";
  } else if (size >= 1e3) {
    value /= 1e3;
    unit = "ms";
  }
  // Three digits: a single run tells no more.
  int const decimals = std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

}  // namespace penstock::lab
