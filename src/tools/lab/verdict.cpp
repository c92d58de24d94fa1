// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/verdict.hpp"

#include <algorithm>

namespace penstock::lab {
namespace {

/// What tells it apart from others.
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
  return {one.as_expected && other.as_expected, one.fact + "; " + other.fact};
}

}  // namespace penstock::lab
