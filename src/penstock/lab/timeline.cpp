// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/timeline.hpp"

#include <algorithm>
#include <cmath>

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

/// "[label====]", as far as there is room; "|" if there is none.
std::string bar(std::string const& label, std::size_t width) {
  if (width < 2) return "|";
  std::string const inner = label.substr(0, width - 2);
  return "[" + inner + std::string(width - 2 - inner.size(), '=') + "]";
}

std::string line_of(std::string const& row, std::span<Interval const> intervals, Scale const& scale) {
  std::string line(scale.columns, ' ');
  for (Interval const& interval : intervals) {
    if (interval.row != row) continue;
    std::size_t const first = std::min(scale.column(interval.start), scale.columns - 1);
    std::size_t const end = std::max(scale.column(interval.end), first + 1);
    line.replace(first, end - first, bar(interval.label, end - first));
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
