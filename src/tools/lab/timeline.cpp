// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace penstock::lab {
namespace {

/// The stretch of time that is drawn, and how many characters there are for it.
struct Scale {
  std::chrono::nanoseconds start;
  std::chrono::nanoseconds length;
  std::size_t columns;

  /// Rounded, so that of two intervals the later never begins before the column in which the earlier ended.
  std::size_t column(std::chrono::nanoseconds time) const {
    double const part = static_cast<double>((time - start).count()) / static_cast<double>(length.count());
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(columns)));
  }
};

/// Room for a label; its brackets take one column each.
bool holds(std::size_t width, std::string const& label) {
  return width >= label.size() + 2;
}

/// "[label====]", "[====]" if there is no room for all of it, "|" if there is none at all.
std::string bar(std::string const& label, std::size_t width) {
  if (width < 2) return "|";
  std::string const inner = holds(width, label) ? label : "";
  return "[" + inner + std::string(width - 2 - inner.size(), '=') + "]";
}

/// Writes `text` to `line`, if nothing stands there and right beside it.
bool write_where_free(std::string& line, std::size_t column, std::string const& text) {
  std::size_t const first = column == 0 ? 0 : column - 1;
  std::size_t const end = column + text.size();
  if (end > line.size() || line.find_first_not_of(' ', first) < std::min(end + 1, line.size())) return false;
  line.replace(column, text.size(), text);
  return true;
}

std::string line_of(std::string const& row, std::span<Interval const> intervals, Scale const& scale) {
  std::string line(scale.columns, ' ');
  auto const first_of = [&](Interval const& one) { return std::min(scale.column(one.start), scale.columns - 1); };
  auto const end_of = [&](Interval const& one) { return std::max(scale.column(one.end), first_of(one) + 1); };
  for (Interval const& interval : intervals) {
    if (interval.row != row) continue;
    std::size_t const width = end_of(interval) - first_of(interval);
    line.replace(first_of(interval), width, bar(interval.label, width));
  }
  // Labels that did not fit stand beside their bars, where there is room.
  for (Interval const& interval : intervals) {
    std::string const& label = interval.label;
    if (interval.row != row || holds(end_of(interval) - first_of(interval), label)) continue;
    if (write_where_free(line, end_of(interval) + 1, label)) continue;
    if (first_of(interval) > label.size()) write_where_free(line, first_of(interval) - label.size() - 1, label);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::vector<std::string> rows_of(std::span<Interval const> intervals) {
  std::vector<std::string> rows;
  for (Interval const& interval : intervals) {
    if (std::find(rows.begin(), rows.end(), interval.row) == rows.end()) rows.push_back(interval.row);
  }
  return rows;
}

}  // namespace

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

std::vector<std::string> draw(std::span<Interval const> intervals, std::size_t columns) {
  if (intervals.empty()) return {};
  auto const rows = rows_of(intervals);
  std::size_t name_width = 0;
  for (std::string const& row : rows) name_width = std::max(name_width, row.size());
  // A name that leaves less than half of the line for time is cut.
  columns = std::max(columns, narrowest);
  name_width = std::min(name_width, columns / 2);

  Scale scale{intervals.front().start, intervals.front().end, columns - name_width - 2};
  for (Interval const& interval : intervals) {
    scale.start = std::min(scale.start, interval.start);
    scale.length = std::max(scale.length, interval.end);
  }
  scale.length = std::max(scale.length - scale.start, std::chrono::nanoseconds(1));

  std::vector<std::string> lines;
  auto const add = [&](std::string name, std::string const& rest) {
    name.resize(name_width, ' ');
    lines.push_back(name + "  " + rest);
  };
  for (std::string const& row : rows) add(row, line_of(row, intervals, scale));
  std::string const all = time_text(scale.length);
  add("", "0" + std::string(scale.columns - 1 - all.size(), ' ') + all);
  return lines;
}

}  // namespace penstock::lab
