// SPDX-License-Identifier: Apache-2.0
#include "course/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

namespace penstock::lab {
namespace {

/// The stretch of time that is drawn, and the number of characters for it.
struct Scale {
  std::chrono::nanoseconds start;
  std::chrono::nanoseconds length;
  std::size_t columns;

  /// Columns are rounded, so that of two intervals the later never begins before the column in which the earlier ended.
  std::size_t column(std::chrono::nanoseconds time) const {
    double const part = static_cast<double>((time - start).count()) / static_cast<double>(length.count());
    return static_cast<std::size_t>(std::lround(part * static_cast<double>(columns)));
  }
};

/// True if there is room for a label; its brackets take one column each.
bool holds(std::size_t width, std::string const& label) {
  return width >= label.size() + 2;
}

/// "[label====]", "[====]" if there is no room for all of it, "|" if there is none.
std::string bar(std::string const& label, std::size_t width) {
  if (width < 2) return "|";
  std::string const inner = holds(width, label) ? label : "";
  return "[" + inner + std::string(width - 2 - inner.size(), '=') + "]";
}

/// Writes `text` to `line`, if there is nothing in its place and right beside it.
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

std::vector<Interval> with_engines(std::span<Interval const> intervals) {
  std::vector<Interval> all(intervals.begin(), intervals.end());
  for (auto const& [engine_of_row, row] : {std::pair(Engine::up, "copies up"), std::pair(Engine::kernels, "kernels"),
                                           std::pair(Engine::down, "copies down")}) {
    Engine const engine = engine_of_row;  // clang 14 lets no lambda capture a binding.
    std::vector<Interval> its;
    std::ranges::copy_if(intervals, std::back_inserter(its), [&](auto const& one) { return one.engine == engine; });
    if (its.empty()) return {intervals.begin(), intervals.end()};
    std::ranges::stable_sort(its, {}, &Interval::end);
    auto free = its.front().start;
    for (Interval& one : its) {
      one.label = one.row.substr(one.row.find_last_of(' ') + 1);
      one.row = row;
      one.start = std::clamp(free, one.start, one.end);
      free = one.end;
      all.push_back(one);
    }
  }
  return all;
}

std::chrono::nanoseconds extent(std::span<Interval const> intervals) {
  auto start = intervals.front().start;
  auto end = intervals.front().end;
  for (Interval const& interval : intervals) {
    start = std::min(start, interval.start);
    end = std::max(end, interval.end);
  }
  return end - start;
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
  // Numbers have three digits: a single run is no more exact.
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

namespace {

/// A name that tells it apart from others.
std::string name_of(Interval const& interval) {
  return interval.label == interval.row ? interval.label : interval.label + " (" + interval.row + ")";
}

Verdict too_early(Interval const& later, Interval const& earlier) {
  return {false, name_of(later) + " started " + time_text(earlier.end - later.start) + " before " + name_of(earlier) +
                     " had ended"};
}

}  // namespace

Verdict one_after_another(std::span<Interval const> intervals) {
  auto longest_pause = std::chrono::nanoseconds::min();
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    Interval const& earlier = intervals[i - 1];
    Interval const& later = intervals[i];
    if (!before(earlier, later)) return too_early(later, earlier);
    longest_pause = std::max(longest_pause, later.start - earlier.end);
  }
  return {true, "each of the " + std::to_string(intervals.size()) +
                    " started when the one before it had ended, after " + time_text(longest_pause) + " at most"};
}

Verdict all_at_once(std::span<Interval const> intervals) {
  auto const last_to_start = *std::max_element(
      intervals.begin(), intervals.end(), [](auto const& one, auto const& other) { return one.start < other.start; });
  auto const first_to_end = *std::min_element(intervals.begin(), intervals.end(),
                                              [](auto const& one, auto const& other) { return one.end < other.end; });
  if (before(first_to_end, last_to_start)) {
    return {false, name_of(last_to_start) + " started " + time_text(last_to_start.start - first_to_end.end) +
                       " after " + name_of(first_to_end) + " had ended"};
  }
  return {true, "all " + std::to_string(intervals.size()) + " ran at once, for " +
                    time_text(first_to_end.end - last_to_start.start)};
}

Verdict stands_between(std::span<Interval const> earlier, Interval const& one, std::span<Interval const> later) {
  for (Interval const& other : earlier) {
    if (!before(other, one)) return too_early(one, other);
  }
  for (Interval const& other : later) {
    if (!before(one, other)) return too_early(other, one);
  }
  return {true, name_of(one) + " started when the " + std::to_string(earlier.size()) +
                    " before it had ended, and the " + std::to_string(later.size()) + " after it when it had ended"};
}

Verdict overtakes(Interval const& urgent, std::span<Interval const> patient) {
  auto const overtaken =
      std::count_if(patient.begin(), patient.end(), [&](Interval const& one) { return urgent.start < one.start; });
  return {overtaken > 0, name_of(urgent) + ", given last, started before " + std::to_string(overtaken) + " of the " +
                             std::to_string(patient.size()) + " given before it"};
}

Verdict both(Verdict const& one, Verdict const& other) {
  return {one.as_expected && other.as_expected, one.fact + "; " + other.fact, one.disproved || other.disproved};
}

Verdict certainly(Verdict verdict) {
  verdict.disproved = !verdict.as_expected;
  return verdict;
}

Verdict by_late_clock(Verdict verdict) {
  if (verdict.as_expected || verdict.disproved || verdict.late) return verdict;
  verdict.late = true;
  verdict.fact = "the clock was late, and with that " + verdict.fact;
  return verdict;
}

}  // namespace penstock::lab
