// SPDX-License-Identifier: Apache-2.0
#include "course/gain.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

namespace penstock::lab {
namespace {

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

}  // namespace

std::vector<Interval> Run::of(std::span<Interval const> all) const {
  auto const its = all.subspan(first, count);
  return {its.begin(), its.end()};
}

std::vector<Interval> without_waits(std::vector<Interval> intervals, int copy_engines) {
  std::vector<Interval*> by_end;
  for (Interval& interval : intervals) by_end.push_back(&interval);
  std::ranges::stable_sort(by_end, {}, &Interval::end);
  std::array<std::chrono::nanoseconds, 3> free{};
  free.fill(std::chrono::nanoseconds::min());
  for (Interval* const piece : by_end) {
    bool const down = piece->label.starts_with("down");
    auto& since = free[down && copy_engines > 1 ? 1 : down || piece->label.starts_with("up") ? 0 : 2];
    piece->start = std::clamp(since, piece->start, piece->end);
    since = piece->end;
  }
  return intervals;
}

double overlapped(std::span<Interval const> intervals) {
  double sum = 0;
  for (Interval const& interval : intervals) sum += static_cast<double>(interval.length().count());
  return sum > 0 ? 1 - static_cast<double>(extent(intervals).count()) / sum : 0;
}

std::vector<Interval> one_run_behind_the_other(std::vector<std::vector<Interval>> runs) {
  std::vector<Interval> all;
  std::chrono::nanoseconds begin{};
  for (auto& run : runs) {
    start_at_zero(run);
    auto const length = extent(run);
    for (Interval& interval : run) {
      interval.start += begin;
      interval.end += begin;
      all.push_back(std::move(interval));
    }
    begin += length + length / 20;
  }
  return all;
}

std::vector<Interval> below_one_stream(std::vector<Interval> in_one_stream, std::vector<Interval> other) {
  start_at_zero(in_one_stream);
  start_at_zero(other);
  std::vector<Interval> all;
  for (Interval const& piece : in_one_stream) all.push_back({"one stream", piece.label, piece.start, piece.end});
  for (auto const& [engine, row] : {std::pair(Engine::up, "its copies up"), std::pair(Engine::kernels, "its kernels"),
                                    std::pair(Engine::down, "its copies down")}) {
    int part = 0;
    for (Interval const& piece : in_one_stream) {
      if (piece.engine == engine) all.push_back({row, std::to_string(++part), piece.start, piece.end});
    }
  }
  std::ranges::move(other, std::back_inserter(all));
  return all;
}

Verdict saves(DeviceInfo const& info, std::string const& what, Gain const& gain) {
  auto const saved = gain.serial - gain.measured, can_be_saved = gain.serial - gain.possible;
  if (!info.acts_as_gpu()) {
    return {gain.overlapped > 0, what + ": " + (gain.overlapped > 0 ? percent(gain.overlapped) : "none") +
                                     " of the time of all pieces ran beside others"};
  }
  // This much is lost in calls, and between copies and kernels.
  auto const lost = gain.serial / 50;
  return {2 * (saved + lost) >= can_be_saved,
          what + " saved " + time_text(saved) + " of the " + time_text(can_be_saved) +
              " that can be saved (1 - measured / one after the other: " +
              percent(static_cast<double>(saved.count()) /
                      static_cast<double>(std::max<std::int64_t>(1, gain.serial.count()))) +
              ")"};
}

Verdict came_back(std::size_t wrong, std::size_t all) {
  if (wrong == 0) return {true, "all " + std::to_string(all) + " parts came back right"};
  return {.as_expected = false,
          .fact = std::to_string(wrong) + " of " + std::to_string(all) + " parts came back wrong",
          .disproved = true};
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace penstock::lab
